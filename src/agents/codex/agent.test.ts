import { fileURLToPath } from 'node:url'
import { adapterContract, scripted } from '../../../test/contracts/adapter.ts'
import { codex } from './agent.ts'

const fakeCodex = fileURLToPath(new URL('../../../test/fake-agent/fake-codex.js', import.meta.url))
const missing = codex.options.parse({ command: 'no-such-codex' })
const lines = (...messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('')

const execSays = (text: string) => lines({ type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text } })

adapterContract(codex, {
  options: { command: fakeCodex, transport: 'exec' },
  missing,
  says: execSays,
  answers: (text) => execSays(text) + lines({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } }),
})

const serverSays = (text: string) =>
  lines({ method: 'item/completed', params: { item: { type: 'agentMessage', id: 'msg_1', text } } })

adapterContract(codex, {
  options: { command: fakeCodex, transport: 'app-server' },
  missing,
  says: serverSays,
  answers: (text) =>
    serverSays(text) + lines({ method: 'turn/completed', params: { turn: { id: 'turn-1', status: 'completed' } } }),
  program: (steps, place) => ({ ...scripted(steps, place), file: fakeCodex, args: ['app-server'] }),
  answersEndTurns: true,
})
