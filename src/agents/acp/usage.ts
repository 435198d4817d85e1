import { asObject, type Fields } from '../../domain/base/object.ts'
import { Usage } from '../../domain/money/usage.ts'
import { count } from '../shared/fields.ts'

/** What a turn used, from the answer to its prompt, where the program tells. */
export const usageOf = (answer: Fields): Usage | undefined => readUsage(asObject(answer.usage))

/** What one call of the model used: some programs tell it with a piece of a message, which may be empty. */
export const callUsage = (update: Fields): Usage | undefined => readUsage(asObject(asObject(update._meta)?.usage))

/** What comes from the cache is a part of the input to some programs and beside it to others: the sum shows which. */
function readUsage(told: Fields | undefined): Usage | undefined {
  const input = count(told?.inputTokens)
  const output = count(told?.outputTokens)
  if (!told || input === undefined || output === undefined) return undefined
  const cacheReadTokens = count(told.cachedReadTokens) ?? 0
  const cacheWriteTokens = count(told.cachedWriteTokens) ?? 0
  const cached = cacheReadTokens + cacheWriteTokens
  const total = count(told.totalTokens)
  const isWithin = total !== undefined && total < input + output + cached
  const inputTokens = isWithin ? Math.max(input - cached, 0) : input
  return Usage.parse({ inputTokens, outputTokens: output, cacheReadTokens, cacheWriteTokens, turns: 1 })
}

export interface CostMeter {
  /** What is new of a cost that is told for the whole conversation. Undefined if none is told, or nothing is new. `counts` is false before the first prompt: then it is what others paid. */
  update(told: Fields, counts: boolean): number | undefined
  /** What was added since the last time; undefined if nothing was told. */
  take(): number | undefined
}

/** Some programs count from their own start and some from that of the conversation, which those tell before they are asked anything. */
export function createCostMeter(): CostMeter {
  let total = 0
  let added: number | undefined
  return {
    update(told, counts) {
      const cost = asObject(told.cost)
      const amount = cost?.currency === 'USD' && typeof cost.amount === 'number' ? cost.amount : undefined
      if (amount === undefined || !Number.isFinite(amount) || amount < 0) return undefined
      const more = Math.max(amount - total, 0)
      total = amount
      if (!counts) return undefined
      added = (added ?? 0) + more
      return more > 0 ? more : undefined
    },
    take() {
      const taken = added
      added = undefined
      return taken
    },
  }
}
