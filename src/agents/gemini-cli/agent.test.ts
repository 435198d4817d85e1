import { fileURLToPath } from 'node:url'
import { adapterContract, scripted } from '../../../test/contracts/adapter.ts'
import { geminiCli } from './agent.ts'

const fakeGemini = fileURLToPath(new URL('../../../test/fake-agent/fake-gemini.js', import.meta.url))
const missing = geminiCli.options.parse({ command: 'no-such-gemini' })
const lines = (...messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('')

const message = (content: string) => lines({ type: 'message', role: 'assistant', content, delta: true })

adapterContract(geminiCli, {
  options: { command: fakeGemini, transport: 'one-shot' },
  missing,
  // A message is complete when something else begins.
  says: (text) => message(text) + lines({ type: 'tool_result', tool_id: 'read_file__1', status: 'success', output: '' }),
  answers: (text) => message(text) + lines({ type: 'result', status: 'success', stats: {} }),
})

const update = (update: object) =>
  lines({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 'sess-0199a213', update } })
const chunk = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

adapterContract(geminiCli, {
  options: { command: fakeGemini },
  missing,
  says: (text) => chunk(text) + update({ sessionUpdate: 'plan', entries: [] }),
  // The prompt is the third thing that is asked: after the handshake and the new session.
  answers: (text) => chunk(text) + lines({ jsonrpc: '2.0', id: 3, result: { stopReason: 'end_turn' } }),
  program: (steps, place) => ({ ...scripted(steps, place), file: fakeGemini, args: ['--acp'] }),
  answersEndTurns: true,
})
