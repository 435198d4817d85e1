import { fieldsOf } from '../../domain/base/object.ts'
import { type Edit, edited, membersOf, objectStart, plainName } from '../wires/json-members.ts'
import type { JsonObject, ModelRequest } from '../wires/model-request.ts'
import type { WireName } from '../wires/wire.ts'

/** Shorter answers than this are of little use to an agent. */
export const leastTokens = 4_096
/** What must be left to say after all that may be thought. */
const leastSaid = 2_048

/**
 * How few tokens an answer may be bounded to where money runs short. Undefined where the request does not let us say it: agents ask for far more output than they
 * use, and for far more thinking, and what is left of a budget would lie idle if all of that had to fit.
 */
export function leastOutput(wire: WireName, body: JsonObject): number | undefined {
  if (Number(body.n ?? 1) !== 1) return undefined
  if (wire !== 'gemini') return leastTokens
  const config = fieldsOf(body.generationConfig ?? body.generation_config)
  return Number(config.candidateCount ?? config.candidate_count ?? 1) === 1 ? leastTokens : undefined
}

/** How much may be thought within an answer of so many tokens. Providers refuse a bound that leaves nothing to say. */
const thoughtWithin = (tokens: number) => tokens - leastSaid

/** What formats that know no such word take for one. */
const thoughtFor: Readonly<Record<string, number>> = { medium: 8_192, high: 24_576 }

/** What is asked of a provider of another format when its answer is bounded. */
export function boundRequest(request: ModelRequest, tokens: number): ModelRequest {
  const { thinking } = request
  const wanted = thinking?.budgetTokens ?? thoughtFor[thinking?.effort ?? '']
  if (wanted === undefined) return { ...request, maxOutputTokens: tokens }
  const budgetTokens = Math.min(wanted, thoughtWithin(tokens))
  return { ...request, maxOutputTokens: tokens, thinking: { ...thinking, budgetTokens } }
}

interface Bound {
  /** In the order in which they are preferred, where none is given. */
  readonly names: readonly string[]
  /** The object in which they stand, where not in the request itself. */
  readonly inside?: readonly string[]
  /** Where it says how much may be thought, beside the names: an object, and numbers in it. */
  readonly thinking?: { readonly inside: readonly string[]; readonly names: readonly string[] }
}

const boundOf: Readonly<Record<WireName, Bound>> = {
  anthropic: { names: ['max_tokens'], thinking: { inside: ['thinking'], names: ['budget_tokens'] } },
  'openai-chat': { names: ['max_tokens', 'max_completion_tokens'] },
  // Here, and in Chat Completions, what is thought is a part of the answer that no number of its own bounds.
  'openai-responses': { names: ['max_output_tokens'] },
  gemini: {
    names: ['maxOutputTokens', 'max_output_tokens'],
    inside: ['generationConfig', 'generation_config'],
    thinking: { inside: ['thinkingConfig', 'thinking_config'], names: ['thinkingBudget', 'thinking_budget'] },
  },
  ollama: { names: ['num_predict'], inside: ['options'] },
}

/** OpenAI's own models that think refuse the older name, and many other servers know no other. */
const takesNewName = (model: string) => /(?:^|\/)(?:gpt-5|o\d)/.test(model)

/** The same request for an answer of no more than so many tokens, thoughts included; only for one that `leastOutput` has a number for. */
export function boundOutput(bytes: Buffer, wire: WireName, tokens: number, model: string): Buffer {
  const bound = boundOf[wire]
  const names = wire === 'openai-chat' && takesNewName(model) ? bound.names.toReversed() : bound.names
  const { inside } = bound
  if (!inside) return edited(bytes, bounding(bytes, { ...bound, names }, tokens, objectStart(bytes)))
  const [config] = membersOf(bytes, plain(inside))
  const member = `"${names[0]}":${tokens}`
  if (!config) return edited(bytes, [added(bytes, objectStart(bytes), `"${inside[0]}":{${member}}`)])
  if (bytes[config.start] !== openBrace) return edited(bytes, [{ ...config, text: `{${member}}` }])
  return edited(bytes, bounding(bytes, bound, tokens, config.start))
}

function bounding(bytes: Buffer, { names, thinking }: Bound, tokens: number, at: number): Edit[] {
  const given = membersOf(bytes, plain(names), at)
  const edits =
    given.length === 0
      ? [added(bytes, at, `"${names[0]}":${tokens}`)]
      : given.map(({ start, end }) => ({ start, end, text: String(tokens) }))
  if (!thinking) return edits
  const thoughts = membersOf(bytes, plain(thinking.inside), at)
    .filter(({ start }) => bytes[start] === openBrace)
    .flatMap(({ start }) => membersOf(bytes, plain(thinking.names), start))
    .filter(({ start, end }) => mayThinkMore(bytes.toString('utf8', start, end), thoughtWithin(tokens)))
    .map(({ start, end }) => ({ start, end, text: String(thoughtWithin(tokens)) }))
  return [...edits, ...thoughts].sort((one, other) => one.start - other.start)
}

/** A negative number leaves it to the model. */
const mayThinkMore = (given: string, most: number) => Number(given) > most || Number(given) < 0

/** As the first member of the object whose brace is there. */
function added(bytes: Buffer, at: number, member: string): Edit {
  let next = at + 1
  while (bytes[next]! <= 0x20) next++
  return { start: at + 1, end: at + 1, text: bytes[next] === closeBrace ? member : `${member},` }
}

const plain = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(plainName))
const openBrace = 0x7b
const closeBrace = 0x7d
