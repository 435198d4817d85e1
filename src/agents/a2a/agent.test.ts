import { afterAll } from 'vitest'
import { startPeer } from '../../../test/a2a-remote/peer.ts'
import { adapterContract } from '../../../test/contracts/adapter.ts'
import { a2a } from './agent.ts'

const peer = await startPeer()
afterAll(() => peer.close())

const line = (record: object) => `${JSON.stringify(record)}\n`

adapterContract(a2a, {
  options: { url: `${peer.url}/plain` },
  says: (text) => line({ type: 'text', text }),
  answers: (text) => line({ type: 'result', status: 'done', text }),
})
