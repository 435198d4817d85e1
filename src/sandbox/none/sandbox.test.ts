import { sandboxContract } from '../../../test/contracts/sandbox.ts'
import { createNone } from './sandbox.ts'

sandboxContract('none', createNone(), { enforced: false })
