import { isObject } from './fields.ts'
import type { JsonObject } from './model-request.ts'
import { isMarked, sealMark } from './seal.ts'

/** Whether a client's request may hold seals of another format's provider: a look at its bytes, before it is read. */
export const mayHoldForeignSeals = (bytes: Buffer): boolean => bytes.includes(sealMark)

/**
 * The request without them. They get into it when a conversation has changed its provider; the new one, asked in the client's own format,
 * would refuse what it has not sealed. A thought goes with its seal, a call stays without it.
 */
export function withoutForeignSeals(body: JsonObject): JsonObject {
  return stripped(body) as JsonObject
}

/** The fields by which a thought carries its seal, in the formats whose thoughts are of no use without. */
const thoughtSeals = ['signature', 'encrypted_content', 'data'] as const

const sealFields = new Set<string>([...thoughtSeals, 'thoughtSignature', 'thought_signature'])

const isForeignThought = (value: unknown): boolean => isObject(value) && thoughtSeals.some((field) => isForeign(value[field]))
const isForeign = (value: unknown): boolean => typeof value === 'string' && isMarked(value)

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isForeignThought(item)).map(stripped)
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(value)) if (!(sealFields.has(name) && isForeign(field))) kept[name] = stripped(field)
  return kept
}
