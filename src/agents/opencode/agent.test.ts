import { fileURLToPath } from 'node:url'
import { adapterContract, scripted } from '../../../test/contracts/adapter.ts'
import { opencode } from './agent.ts'

const fakeOpencode = fileURLToPath(new URL('../../../test/fake-agent/fake-opencode.js', import.meta.url))
const missing = opencode.options.parse({ command: 'no-such-opencode' })
const lines = (...messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('')

const said = (text: string) => lines({ type: 'text', sessionID: 'ses_0123456789abcdef', part: { type: 'text', text } })

adapterContract(opencode, {
  options: { command: fakeOpencode, transport: 'run' },
  missing,
  launch: { model: 'some-model' },
  says: said,
  answers: said,
})

const update = (update: object) =>
  lines({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 'sess-0199a213', update } })
const chunk = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

adapterContract(opencode, {
  options: { command: fakeOpencode, transport: 'acp' },
  missing,
  launch: { model: 'some-model' },
  // A message is complete when something else begins.
  says: (text) => chunk(text) + update({ sessionUpdate: 'plan', entries: [] }),
  // The prompt is the third thing that is asked: after the handshake and the new session.
  answers: (text) => chunk(text) + lines({ jsonrpc: '2.0', id: 3, result: { stopReason: 'end_turn' } }),
  program: (steps, place) => ({ ...scripted(steps, place), file: fakeOpencode, args: ['acp'] }),
  answersEndTurns: true,
})
