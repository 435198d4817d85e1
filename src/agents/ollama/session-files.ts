import { isObjectOrArray } from '../../domain/base/object.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { SessionFiles } from '../port.ts'
import type { Message } from './program/history.ts'

export const sessionsFolder = '.pawl-ollama/sessions'

/** One growing file per conversation, one message a line. */
export const sessionFiles: SessionFiles = {
  id: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  layouts: (vendorId) => [fileOf(vendorId)],
  rebuild: (transcript, { vendorId }) => ({ path: fileOf(vendorId), content: transcript.flatMap(rowsOf).join('') }),
}

const fileOf = (vendorId: string) => `${sessionsFolder}/${vendorId}.jsonl`

function rowsOf(said: Utterance, index: number): string[] {
  const row = (message: Message) => `\n${JSON.stringify({ type: 'message', at: said.at, message })}`
  if (said.kind === 'user') return [row({ role: 'user', content: said.text })]
  if (said.kind === 'agent') return [row({ role: 'assistant', content: said.text })]
  // Ids of calls may come twice in one journal.
  const id = `call_${index}`
  const given = isObjectOrArray(said.input) ? said.input : {}
  const output = said.output ?? 'Nobody knows how this call ended.'
  return [
    row({ role: 'assistant', content: '', calls: [{ id, name: said.tool, arguments: given }] }),
    row({ role: 'tool', content: said.isError ? `Error: ${output}` : output, callId: id, name: said.tool }),
  ]
}
