import { z } from 'zod'
import type { Usage } from '../../domain/money/usage.ts'

/** What is missing or strange in a newer program's result must not cost the answer, so only what decides is required. */
const lenient = <T>(schema: z.ZodType<T>) => schema.optional().catch(undefined)
const Count = z.number().int().nonnegative().catch(0)
const Cost = z.number().nonnegative()

const ModelUsage = z.record(
  z.string(),
  z.object({
    inputTokens: Count,
    outputTokens: Count,
    cacheReadInputTokens: Count,
    cacheCreationInputTokens: Count,
    costUSD: Cost.catch(0),
  }),
)

/** What one call of the model used. */
export const TokenCounts = z.object({
  input_tokens: Count,
  output_tokens: Count,
  cache_read_input_tokens: Count,
  cache_creation_input_tokens: Count,
})
export type TokenCounts = z.infer<typeof TokenCounts>

/** The line that ends a turn. */
export const Result = z.object({
  subtype: z.string(),
  is_error: z.boolean(),
  session_id: lenient(z.string()),
  result: lenient(z.string()),
  structured_output: z.unknown().optional(),
  errors: lenient(z.array(z.string())),
  api_error: lenient(z.string()),
  api_error_status: lenient(z.number().nullable()),
  terminal_reason: lenient(z.string()),
  num_turns: lenient(Count),
  total_cost_usd: lenient(Cost),
  usage: lenient(TokenCounts),
  model_usage_since_last_result: lenient(ModelUsage),
})
export type Result = z.infer<typeof Result>

export const isGood = (result: Result) => result.subtype === 'success' && !result.is_error

/**
 * The tokens of this turn alone, subagents included. `modelUsage` and `total_cost_usd` go on counting over every run of a resumed conversation,
 * and `usage` leaves out subagents and a last call that went over the budget, so it is only what older programs are read by.
 */
export function usageOf(result: Result): Usage | undefined {
  const turns = result.num_turns ?? 0
  const perModel = result.model_usage_since_last_result && Object.values(result.model_usage_since_last_result)
  if (perModel) {
    const sum = (key: 'inputTokens' | 'outputTokens' | 'cacheReadInputTokens' | 'cacheCreationInputTokens') =>
      perModel.reduce((total, model) => total + model[key], 0)
    return {
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
      cacheReadTokens: sum('cacheReadInputTokens'),
      cacheWriteTokens: sum('cacheCreationInputTokens'),
      turns,
    }
  }
  return result.usage && asUsage([result.usage], turns)
}

/** Of a turn without a result: what its messages say, each counted once. That is the least it used, because the last one may have been cut short. */
export function usageOfMessages(calls: readonly (TokenCounts & { readonly isOwn: boolean })[]): Usage | undefined {
  return calls.length > 0 ? asUsage(calls, calls.filter(({ isOwn }) => isOwn).length) : undefined
}

function asUsage(calls: readonly TokenCounts[], turns: number): Usage {
  const sum = (key: keyof TokenCounts) => calls.reduce((total, call) => total + call[key], 0)
  return {
    inputTokens: sum('input_tokens'),
    outputTokens: sum('output_tokens'),
    cacheReadTokens: sum('cache_read_input_tokens'),
    cacheWriteTokens: sum('cache_creation_input_tokens'),
    turns,
  }
}

/** What each turn of one process cost. */
export function createCostMeter({ isResumed }: { isResumed: boolean }) {
  // The first total of a resumed conversation holds its earlier runs too, and nobody says how much of it they were.
  let total = isResumed ? undefined : 0
  let spent = 0
  const ofTurn = (result: Result): number | undefined => {
    const before = total
    total = result.total_cost_usd ?? total
    const perModel = result.model_usage_since_last_result
    if (perModel) return Object.values(perModel).reduce((sum, model) => sum + model.costUSD, 0)
    if (before === undefined || result.total_cost_usd === undefined) return undefined
    return Math.max(0, result.total_cost_usd - before)
  }
  return {
    costOf(result: Result): number | undefined {
      const cost = ofTurn(result)
      // Of what is not known too much is assumed.
      spent += cost ?? Number.POSITIVE_INFINITY
      return cost
    },
    /** What this process has spent; its own budget counts that. */
    get spent() {
      return spent
    },
  }
}
