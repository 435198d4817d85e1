import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { isObject } from '../../domain/base/object.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { RebuildPlace, SessionFiles } from '../port.ts'

/** The folder for everything of a workspace; one name for all, because a conversation may go on in another workspace. */
const ownSlug = 'pawl'
const chats = (slug: string) => `.gemini/tmp/${slug}/chats`
/** Where new conversations lie. */
export const chatsFolder = chats(ownSlug)
const begin = (vendorId: string) => vendorId.slice(0, 8)

/**
 * The name holds the minute of the start and the beginning of the id. A later call may leave another file of the same id that holds nothing but its beginning: the
 * oldest one is the conversation, and grows.
 */
export const sessionFiles: SessionFiles = {
  id: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  layouts: (vendorId) => [ownSlug, '*'].map((slug) => `${chats(slug)}/session-*${begin(vendorId)}.jsonl`),
  beside: (path, vendorId) => [posix.join(posix.dirname(posix.dirname(path)), 'tool-outputs', `session-${vendorId}`)],
  oldest: true,
  dropsCutCalls: true,
  rebuild,
}

/** Where the conversation lies; one that was brought from elsewhere lies under the name of a workspace there. */
export function slugOf(home: string, resume: string | undefined): string {
  if (resume === undefined) return ownSlug
  const isHere = (slug: string) => namesIn(posix.join(home, chats(slug))).some((name) => name.endsWith(`${begin(resume)}.jsonl`))
  if (isHere(ownSlug)) return ownSlug
  return namesIn(posix.join(home, '.gemini/tmp')).find((slug) => /^[\w.-]+$/.test(slug) && isHere(slug)) ?? ownSlug
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Not there: nothing is in it.
    return []
  }
}

function rebuild(transcript: readonly Utterance[], { vendorId }: RebuildPlace) {
  const first = transcript[0]?.at ?? new Date(0).toISOString()
  const last = transcript.at(-1)?.at ?? first
  const lines = [
    { sessionId: vendorId, projectHash: 'pawl', startTime: first, lastUpdated: last, kind: 'main' },
    ...transcript.flatMap((utterance, index) => messageOf(utterance, `${vendorId}/${index}`)),
  ]
  const minute = first.slice(0, 16).replace(':', '-')
  return {
    path: `${chats(ownSlug)}/session-${minute}-${begin(vendorId)}.jsonl`,
    content: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  }
}

/** A return stands with its call and nowhere else: the program would send it twice. */
function messageOf(utterance: Utterance, name: string): object[] {
  const about = { id: uuidOf(name), timestamp: utterance.at }
  if (utterance.kind === 'user')
    return utterance.text.trim() === '' ? [] : [{ ...about, type: 'user', content: [{ text: utterance.text }] }]
  if (utterance.kind === 'agent')
    return utterance.text.trim() === '' ? [] : [{ ...about, type: 'gemini', content: utterance.text, thoughts: [] }]
  const id = `${uuidOf(`${name}/call`)}`
  const tool = utterance.tool.replace(/[^\w.-]/g, '_').slice(0, 64) || 'tool'
  const response =
    utterance.output === undefined
      ? { error: '[This call was interrupted; nobody knows how it ended.]' }
      : { [utterance.isError ? 'error' : 'output']: utterance.output }
  return [
    {
      ...about,
      type: 'gemini',
      content: '',
      toolCalls: [
        {
          id,
          name: tool,
          args: isObject(utterance.input) ? utterance.input : { input: utterance.input },
          result: [{ functionResponse: { id, name: tool, response } }],
          status: 'success',
          timestamp: utterance.at,
        },
      ],
    },
  ]
}

/** The same conversation rebuilt twice gives the same file. */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
