import { fileURLToPath } from 'node:url'
import { adapterContract, scripted } from '../../../test/contracts/adapter.ts'
import { acp } from './agent.ts'

const fakeAcp = fileURLToPath(new URL('../../../test/fake-agent/fake-acp.js', import.meta.url))
const missing = acp.options.parse({ command: 'no-such-program' })

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const update = (update: object) => line({ method: 'session/update', params: { sessionId: 'sess-0199a213', update } })
const chunk = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
/** A message is complete when something else begins. */
const says = (text: string) => chunk(text) + update({ sessionUpdate: 'plan', entries: [] })
/** The prompt is the third thing that is asked: after the handshake and the new session. */
const answers = (text: string) => chunk(text) + line({ id: 3, result: { stopReason: 'end_turn' } })

for (const serve of [[], ['files', 'terminals']]) {
  adapterContract(acp, {
    options: { command: fakeAcp, versionArgs: ['--version'], serve },
    missing,
    says,
    answers,
    program: (steps, place) => {
      const { env, files } = scripted(steps, place)
      const spec = { options: acp.options.parse({ command: fakeAcp, serve }), prompt: '', extraArgs: [], ...place }
      return { ...acp.command(spec), env, files }
    },
    answersEndTurns: true,
  })
}
