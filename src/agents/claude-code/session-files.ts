import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { isObject } from '../../domain/base/object.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { RebuildPlace, SessionFiles } from '../port.ts'

export const sessionId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** One growing file per conversation; long tool output and the transcripts of subagents lie in a folder of the same name beside it. */
export const sessions: SessionFiles = {
  id: sessionId,
  layouts: (vendorId) => [`.claude/projects/*/${vendorId}.jsonl`, `.claude/sessions/${vendorId}.jsonl`],
  beside: (path, vendorId) => [posix.join(posix.dirname(path), vendorId)],
  rebuild,
}

function rebuild(transcript: readonly Utterance[], place: RebuildPlace) {
  const { vendorId, workspace } = place
  // A line without a parent or a time makes the program forget, without a word, everything that stands before it.
  let parentUuid: string | null = null
  const lines = transcript.flatMap(messagesOf).map(({ at, ...message }, index) => {
    const uuid = uuidOf(`${vendorId}/${index}`)
    const line = {
      type: message.role,
      message: message.role === 'assistant' ? { ...message, model: place.model } : message,
      uuid,
      parentUuid,
      timestamp: at,
      sessionId: vendorId,
      cwd: workspace,
      version: place.version,
      userType: 'external',
      isSidechain: false,
    }
    parentUuid = uuid
    return `${JSON.stringify(line)}\n`
  })
  return { path: `.claude/projects/${folderOf(workspace)}/${vendorId}.jsonl`, content: lines.join('') }
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly object[]
  readonly at: string
}

/** The model's provider refuses blocks without text, and calls without a return. */
function messagesOf(utterance: Utterance, index: number): Message[] {
  const { at } = utterance
  if (utterance.kind !== 'tool') {
    const role = utterance.kind === 'user' ? 'user' : 'assistant'
    return utterance.text.trim() === '' ? [] : [{ role, content: [{ type: 'text', text: utterance.text }], at }]
  }
  const id = `toolu_${index}_${utterance.callId.replace(/[^\w-]/g, '').slice(-40)}`
  const name = utterance.tool.replace(/[^\w-]/g, '_').slice(0, 128) || 'tool'
  const returned =
    utterance.output === undefined
      ? { content: '[This call was interrupted; nobody knows how it ended.]', is_error: true }
      : { content: utterance.output || '(no output)', is_error: utterance.isError }
  return [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id, name, input: isObject(utterance.input) ? utterance.input : { input: utterance.input } }],
      at,
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, ...returned }], at },
  ]
}

const folderOf = (workspace: string) => workspace.replace(/[^a-zA-Z0-9]/g, '-').slice(0, 200)

/** The same conversation rebuilt twice gives the same file. */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
