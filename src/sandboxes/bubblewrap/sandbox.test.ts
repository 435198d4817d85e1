import { sandboxContract } from '../../../test/contracts/sandbox.ts'
import { createBubblewrap } from './sandbox.ts'

sandboxContract('bubblewrap', createBubblewrap(), { enforced: true })
