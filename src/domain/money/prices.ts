import { compileGlob } from '../rule/glob.ts'
import type { CostKnowledge } from './cost.ts'
import type { Usage } from './usage.ts'

/** US dollars for a million tokens of each kind. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** For tokens that are kept in the cache for an hour; as any others that go into it if left out. */
  readonly cacheWriteHour?: number | undefined
  /** For tokens that were thought and not said; as output if left out. */
  readonly reasoning?: number | undefined
  /** For one piece of what is paid by the piece, by the provider's name for it. */
  readonly pieces?: Readonly<Record<string, number>> | undefined
  /** For all tokens of a call into which more than so many go. */
  readonly long?: { readonly above: number; readonly price: Omit<Price, 'pieces' | 'long'> } | undefined
  /** The most tokens that the model writes in one answer. */
  readonly maxOutput?: number | undefined
  /** Asked for by name only: a model that nobody knows is not taken for one of these. */
  readonly isRare?: boolean | undefined
}

/** What one call used, as its provider told it: reasoning is a part of the output, and what is kept for an hour a part of what went into the cache. */
export interface CallUsage extends Omit<Usage, 'turns'> {
  readonly cacheWriteHourTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  readonly pieces?: Readonly<Record<string, number>> | undefined
}

/** Whoever has no price of its own for cached tokens reads and writes them like others. */
export const price = (input: number, output: number, cacheRead = input, cacheWrite = input): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite,
})

/** By names of models, in which `*` stands for anything. */
export type PriceList = Readonly<Record<string, Price>>

export interface Cost {
  /** As far as it is known; null if nobody knows the price. */
  readonly usd: number | null
  /** What caps count: of an unknown price, as if it were the dearest that is commonly used. */
  readonly countedUsd: number
  readonly known: CostKnowledge
}

/** Where a list of prices comes from, and of when it is. */
export interface PriceOrigin {
  readonly asOf: string
  readonly sources: readonly string[]
}

export interface Prices {
  /** Those of the settings first, each table as it is written. */
  readonly all: readonly { readonly pattern: string; readonly price: Price; readonly isOwn: boolean }[]
  /** Of those that are not the settings' own. */
  readonly origin: PriceOrigin | undefined
  /** Undefined if nobody knows it. */
  of(model: string | undefined): Price | undefined
  /** The pattern by which the listed price of a model was found that no name of its own has: the price of a relative, perhaps. */
  guessedFrom(model: string): string | undefined
  cost(model: string | undefined, usage: CallUsage, reportedUsd?: number): Cost
  /** The most that a call can cost: every token in the dearest way in which it can be counted. */
  worst(
    model: string | undefined,
    call: Pick<CallUsage, 'pieces'> & {
      readonly inputTokens: number
      readonly outputTokens: number
      readonly isKeptForHour?: boolean | undefined
    },
  ): Cost
}

/** What tokens cost, by what the settings say and else by what is listed. The longest pattern that fits a model counts. */
export function createPrices(own: PriceList, listed: PriceList, origin?: PriceOrigin): Prices {
  const tables = [own, listed].map((table) =>
    Object.entries(table)
      .map(([pattern, price]) => ({ pattern, price }))
      .sort((one, other) => other.pattern.length - one.pattern.length),
  )
  const known = [...Object.values(own), ...Object.values(listed)]
    .filter((price) => !price.isRare)
    .flatMap((price): Price[] => (price.long ? [price, price.long.price] : [price]))
  const most = (of: (price: Price) => number) => Math.max(0, ...known.map(of))
  const dearest: Price = {
    input: most((price) => price.input),
    output: most((price) => price.output),
    cacheRead: most((price) => price.cacheRead),
    cacheWrite: most((price) => price.cacheWrite),
    cacheWriteHour: most(hourWrite),
    reasoning: most(reasoning),
  }
  const feeOf = (piece: string) => most((price) => price.pieces?.[piece] ?? 0)
  const feesOf = (pieces: CallUsage['pieces'] = {}, found: Price | undefined) =>
    Object.entries(pieces).reduce((sum, [piece, count]) => sum + count * (found?.pieces?.[piece] ?? feeOf(piece)), 0)
  const entryOf = (model: string) => {
    for (const table of tables) {
      const found = table.find(({ pattern }) => modelFits(pattern, model))
      if (found) return found
    }
    return undefined
  }
  // Asked several times for every call; programs may ask for any name, so not all of them are kept.
  const searched = new Map<string, Price | undefined>()
  const find = (model: string | undefined) => {
    if (model === undefined) return undefined
    if (searched.has(model)) return searched.get(model)
    const price = entryOf(model)?.price
    if (searched.size < mostSearched) searched.set(model, price)
    return price
  }
  const entries = (table: PriceList, isOwn: boolean) =>
    Object.entries(table).map(([pattern, price]) => ({ pattern, price, isOwn }))
  return {
    all: [...entries(own, true), ...entries(listed, false)],
    origin,
    of: find,
    guessedFrom(model) {
      const found = entryOf(model)
      if (!found || Object.hasOwn(own, found.pattern) || isNamed(found.pattern, model)) return undefined
      return found.pattern
    },
    cost(model, usage, reportedUsd) {
      if (reportedUsd !== undefined) return { usd: reportedUsd, countedUsd: reportedUsd, known: 'reported' }
      const found = find(model)
      const tokensUsd = priced(usage, found ?? dearest)
      const pieces = Object.entries(usage.pieces ?? {}).filter(([, count]) => count > 0)
      const isKnown = found !== undefined && pieces.every(([piece]) => found.pieces?.[piece] !== undefined)
      const countedUsd = tokensUsd + feesOf(usage.pieces, found)
      return isKnown ? { usd: countedUsd, countedUsd, known: 'priced' } : { usd: null, countedUsd, known: 'unknown' }
    },
    worst(model, { inputTokens, outputTokens, pieces, isKeptForHour = true }) {
      const found = find(model)
      const price = priceFor(inputTokens, found ?? dearest)
      const input = Math.max(price.input, price.cacheRead, price.cacheWrite, isKeptForHour ? hourWrite(price) : 0)
      const tokensUsd = (inputTokens * input + outputTokens * Math.max(price.output, reasoning(price))) / 1e6
      const countedUsd = tokensUsd + feesOf(pieces, found)
      return found ? { usd: countedUsd, countedUsd, known: 'priced' } : { usd: null, countedUsd, known: 'unknown' }
    },
  }
}

const mostSearched = 1_000

/** Makers put dates and the like behind the name of one and the same model. */
const sameModel = /^[-@:]?(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)?$/
function isNamed(pattern: string, model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  const stem = pattern.toLowerCase().replace(/\*$/, '')
  return name.startsWith(stem) && sameModel.test(name.slice(stem.length))
}

const hourWrite = (price: Omit<Price, 'long'>) => price.cacheWriteHour ?? price.cacheWrite
const reasoning = (price: Omit<Price, 'long'>) => price.reasoning ?? price.output

/** What counts for a call into which so many tokens go. */
const priceFor = (inputTokens: number, price: Price): Omit<Price, 'pieces' | 'long'> =>
  price.long && inputTokens > price.long.above ? price.long.price : price

function priced(usage: CallUsage, listed: Price): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const price = priceFor(inputTokens + cacheReadTokens + cacheWriteTokens, listed)
  const hour = Math.min(usage.cacheWriteHourTokens ?? 0, cacheWriteTokens)
  const thought = Math.min(usage.reasoningTokens ?? 0, outputTokens)
  const read = inputTokens * price.input + cacheReadTokens * price.cacheRead
  const kept = (cacheWriteTokens - hour) * price.cacheWrite + hour * hourWrite(price)
  return (read + kept + (outputTokens - thought) * price.output + thought * reasoning(price)) / 1e6
}

/** `*` stands for anything. A name may have its provider in front, as in `provider/model`. */
export function modelFits(pattern: string, model: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), model.toLowerCase()]
  return compileGlob(wanted).matches(given) || compileGlob(`*/${wanted}`).matches(given)
}
