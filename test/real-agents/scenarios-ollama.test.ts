import { realProgramContract } from '../contracts/real-program.ts'
import { ollamaLoop } from './peer.ts'

realProgramContract(ollamaLoop)
