import { asObject } from './fields.ts'
import { type Edit, edited, membersOf, objectStart } from './json-members.ts'
import type { JsonObject } from './model-request.ts'
import type { WireName } from './wire.ts'

/** Shorter answers than this are of little use to an agent. */
const leastTokens = 8_192
/** What must be left to say after all that may be thought. */
const leastSaid = 4_096

/**
 * How few tokens an answer may be bounded to where money runs short. Undefined where the request or its format does not let us say it: agents ask for far more output than they
 * use, and what is left of a budget would lie idle if all of that had to fit.
 */
export function leastOutput(wire: WireName, body: JsonObject): number | undefined {
  if (Number(body.n ?? 1) !== 1) return undefined
  if (wire === 'openai-responses') return leastTokens
  if (wire === 'openai-chat') return chatBounds.some((name) => typeof body[name] === 'number') ? leastTokens : undefined
  if (wire !== 'anthropic') return undefined
  const thought = asObject(body.thinking).budget_tokens
  return Math.max(leastTokens, (typeof thought === 'number' ? thought : 0) + leastSaid)
}

const chatBounds = ['max_tokens', 'max_completion_tokens']
const boundsOf: Partial<Record<WireName, ReadonlySet<string>>> = {
  anthropic: new Set(['max_tokens']),
  'openai-chat': new Set(chatBounds),
  'openai-responses': new Set(['max_output_tokens']),
}

/** The same request for an answer of no more than so many tokens; only for one that `leastOutput` has a number for. */
export function boundOutput(bytes: Buffer, wire: WireName, tokens: number): Buffer {
  const names = boundsOf[wire]
  if (!names) throw new Error(`Answers of ${wire} cannot be bounded.`)
  const given = membersOf(bytes, names)
  const inside = objectStart(bytes) + 1
  const edits: Edit[] =
    given.length === 0
      ? [{ start: inside, end: inside, text: `"${[...names][0]}":${tokens},` }]
      : given.map(({ start, end }) => ({ start, end, text: String(tokens) }))
  return edited(bytes, edits)
}
