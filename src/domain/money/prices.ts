import type { Usage } from '../usage.ts'
import type { CostKnowledge } from './cost.ts'

/** US dollars for a million tokens of each kind. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
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
  /** What caps count: of an unknown price, as if it were the dearest known. */
  readonly countedUsd: number
  readonly known: CostKnowledge
}

export interface Prices {
  /** Undefined if nobody knows it. */
  of(model: string | undefined): Price | undefined
  cost(model: string | undefined, usage: Usage, reportedUsd?: number): Cost
}

/** What tokens cost, by what the settings say and else by what is listed. The longest pattern that fits a model counts. */
export function createPrices(own: PriceList, listed: PriceList): Prices {
  const tables = [own, listed].map((table) =>
    Object.entries(table)
      .map(([pattern, price]) => ({ pattern, price }))
      .sort((one, other) => other.pattern.length - one.pattern.length),
  )
  const known = [...Object.values(own), ...Object.values(listed)]
  const most = (kind: keyof Price) => Math.max(0, ...known.map((price) => price[kind]))
  const dearest = price(most('input'), most('output'), most('cacheRead'), most('cacheWrite'))
  const find = (model: string | undefined) => {
    if (model === undefined) return undefined
    for (const table of tables) {
      const found = table.find(({ pattern }) => modelFits(pattern, model))
      if (found) return found.price
    }
    return undefined
  }
  return {
    of: find,
    cost(model, usage, reportedUsd) {
      if (reportedUsd !== undefined) return { usd: reportedUsd, countedUsd: reportedUsd, known: 'reported' }
      const found = find(model)
      const usd = priced(usage, found ?? dearest)
      return found ? { usd, countedUsd: usd, known: 'priced' } : { usd: null, countedUsd: usd, known: 'unknown' }
    },
  }
}

function priced(usage: Usage, { input, output, cacheRead, cacheWrite }: Price): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  return (inputTokens * input + outputTokens * output + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite) / 1e6
}

/** `*` stands for anything. A name may have its provider in front, as in `provider/model`. */
export function modelFits(pattern: string, model: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^(?:.*/)?${parts.join('.*')}$`, 'i').test(model)
}
