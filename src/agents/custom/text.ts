import type { Turn } from '../port.ts'
import { createTextFlow, createTextKeeper } from '../shared/text.ts'
import type { Output } from './output.ts'

/** Plain text: every line is said at once, all of them together are the answer. */
export function readText(turn: Turn): Output {
  const keep = createTextKeeper()
  const flow = createTextFlow({
    keep,
    send: (text) => turn.emit({ type: 'agent.message', data: { text } }),
    grow: (piece) => turn.grow?.('message', piece, true),
  })
  return {
    push: flow.push,
    async end() {
      await flow.end()
      return { text: keep.text().trim() }
    },
  }
}
