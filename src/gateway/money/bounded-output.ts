import { fieldsOf } from '../../domain/base/object.ts'
import { type Edit, edited, membersOf, objectStart, plainName } from '../wires/json-members.ts'
import type { JsonObject, ModelRequest } from '../wires/model-request.ts'
import type { WireName } from '../wires/wire.ts'

/** Shorter answers than this are of little use to an agent. */
const leastTokens = 8_192
/** What must be left to say after all that may be thought. */
const leastSaid = 4_096

/**
 * How few tokens an answer may be bounded to where money runs short. Undefined where the request does not let us say it: agents ask for far more output than they
 * use, and what is left of a budget would lie idle if all of that had to fit.
 */
export function leastOutput(wire: WireName, body: JsonObject): number | undefined {
  if (Number(body.n ?? 1) !== 1) return undefined
  // Which of its two names a server takes is not known where neither is given.
  if (wire === 'openai-chat') return chatBounds.some((name) => typeof body[name] === 'number') ? leastTokens : undefined
  if (wire === 'anthropic') return leastBehind(fieldsOf(body.thinking).budget_tokens)
  if (wire !== 'gemini') return leastTokens
  const config = fieldsOf(body.generationConfig ?? body.generation_config)
  if (Number(config.candidateCount ?? config.candidate_count ?? 1) !== 1) return undefined
  const thinking = fieldsOf(config.thinkingConfig ?? config.thinking_config)
  return leastBehind(thinking.thinkingBudget ?? thinking.thinking_budget)
}

/** The same for a request that is written anew in another format. */
export const leastOutputOf = ({ thinking }: ModelRequest): number => leastBehind(thinking?.budgetTokens)

const leastBehind = (thought: unknown) => Math.max(leastTokens, (typeof thought === 'number' ? thought : 0) + leastSaid)

const chatBounds = ['max_tokens', 'max_completion_tokens']

interface Bound {
  /** In the order in which they are preferred, where none is given. */
  readonly names: readonly string[]
  /** The object in which they stand, where not in the request itself. */
  readonly inside?: readonly string[]
}

const boundOf: Readonly<Record<WireName, Bound>> = {
  anthropic: { names: ['max_tokens'] },
  'openai-chat': { names: chatBounds },
  'openai-responses': { names: ['max_output_tokens'] },
  gemini: { names: ['maxOutputTokens', 'max_output_tokens'], inside: ['generationConfig', 'generation_config'] },
  ollama: { names: ['num_predict'], inside: ['options'] },
}

/** The same request for an answer of no more than so many tokens; only for one that `leastOutput` has a number for. */
export function boundOutput(bytes: Buffer, wire: WireName, tokens: number): Buffer {
  const { names, inside } = boundOf[wire]
  const bound = `"${names[0]}":${tokens}`
  if (!inside) return edited(bytes, bounding(bytes, names, tokens, objectStart(bytes)))
  const [config] = membersOf(bytes, plain(inside))
  if (!config) return edited(bytes, [added(bytes, objectStart(bytes), `"${inside[0]}":{${bound}}`)])
  if (bytes[config.start] !== openBrace) return edited(bytes, [{ ...config, text: `{${bound}}` }])
  return edited(bytes, bounding(bytes, names, tokens, config.start))
}

function bounding(bytes: Buffer, names: readonly string[], tokens: number, at: number): Edit[] {
  const given = membersOf(bytes, plain(names), at)
  if (given.length === 0) return [added(bytes, at, `"${names[0]}":${tokens}`)]
  return given.map(({ start, end }) => ({ start, end, text: String(tokens) }))
}

/** As the first member of the object whose brace is there. */
function added(bytes: Buffer, at: number, member: string): Edit {
  let next = at + 1
  while (bytes[next]! <= 0x20) next++
  return { start: at + 1, end: at + 1, text: bytes[next] === closeBrace ? member : `${member},` }
}

const plain = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(plainName))
const openBrace = 0x7b
const closeBrace = 0x7d
