import { isObject } from '../../domain/base/object.ts'
import { objectsOf } from '../wires/fields.ts'
import type { JsonObject } from '../wires/model-request.ts'
import { isMarked, sealMark } from '../wires/seal.ts'

/**
 * Seals in requests that pass in the client's own format, and that whoever is asked has not given: they get into a conversation that has changed its provider, and would be
 * refused. Those of another format are marked; of those of the same format one learns by a refusal.
 */
export interface ForeignSeals {
  /** The request without them; the same bytes if there are none. A thought goes with its seal, a call stays without it. */
  without(account: string, bytes: Buffer, body: JsonObject): Buffer
  /** The account did not know a seal of this request: none of those that it holds is shown to it again. False if there is none left. */
  refuse(account: string, body: JsonObject): boolean
}

export function createForeignSeals(): ForeignSeals {
  const refused = new Map<string, Set<string>>()
  return {
    without(account, bytes, body) {
      const unknown = refused.get(account)
      if (!unknown && !bytes.includes(sealMark)) return bytes
      const isForeign = (seal: unknown) => typeof seal === 'string' && (isMarked(seal) || unknown?.has(seal) === true)
      return Buffer.from(JSON.stringify(withoutThinkingInMiddle(body, stripped(body, isForeign) as JsonObject)))
    },
    refuse(account, body) {
      const known = refused.get(account) ?? new Set()
      refused.set(account, known)
      const before = known.size
      gather(body, known)
      return known.size > before
    },
  }
}

/** Whether a provider says that it does not know a seal. */
export const isAboutSeals = (message: string) => /signature|encrypted[ _]content/i.test(message)

/** The fields by which a thought carries its seal, in the formats whose thoughts are of no use without. */
const thoughtSeals = ['signature', 'encrypted_content'] as const

const sealFields = new Set<string>([...thoughtSeals, 'thoughtSignature', 'thought_signature'])

/** What stands in a redacted thought is called as what stands in an image is. */
const sealOf = (value: JsonObject) =>
  value.type === 'redacted_thinking' ? [value.data] : [...thoughtSeals.map((field) => value[field])]

function stripped(value: unknown, isForeign: (seal: unknown) => boolean): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !isObject(item) || !sealOf(item).some(isForeign)).map((item) => stripped(item, isForeign))
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value))
    if (!(sealFields.has(name) && isForeign(field))) kept[name] = stripped(field, isForeign)
  return kept
}

function gather(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) gather(item, into)
  if (!isObject(value)) return
  if (value.type === 'redacted_thinking' && typeof value.data === 'string') into.add(value.data)
  for (const [name, field] of Object.entries(value)) {
    if (sealFields.has(name) && typeof field === 'string') into.add(field)
    else if (name !== 'input' || Array.isArray(field)) gather(field, into)
  }
}

/** A model of Anthropic that is to think must be shown the thought with which the turn began; without it, it does this turn without thinking. */
function withoutThinkingInMiddle(before: JsonObject, after: JsonObject): JsonObject {
  const { thinking, ...rest } = after
  if (!isObject(thinking) || thinking.type !== 'enabled') return after
  const begins = (body: JsonObject) =>
    objectsOf(objectsOf(body.messages).findLast(({ role }) => role === 'assistant')?.content)[0]?.type
  return begins(before) !== begins(after) ? rest : after
}
