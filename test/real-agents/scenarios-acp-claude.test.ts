import { realProgramContract } from '../contracts/real-program.ts'
import { programNamed } from './peer.ts'

realProgramContract(programNamed('claude-acp'))
