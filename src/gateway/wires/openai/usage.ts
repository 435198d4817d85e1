import { fieldsOf } from '../../../domain/base/object.ts'
import { asCount } from '../fields.ts'
import type { ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'

/**
 * Both formats of OpenAI count what came from the cache into the input; the names differ. Others that speak Chat Completions tell the
 * cached ones under names of their own.
 */
export function usageOf(usage: JsonObject): ModelUsage {
  const input = asCount(usage.input_tokens ?? usage.prompt_tokens)
  const inputDetails = fieldsOf(usage.input_tokens_details ?? usage.prompt_tokens_details)
  const outputDetails = fieldsOf(usage.output_tokens_details ?? usage.completion_tokens_details)
  const cacheRead = asCount(inputDetails.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens)
  const cacheWrite = asCount(inputDetails.cache_write_tokens ?? inputDetails.cache_creation_tokens)
  return {
    inputTokens: Math.max(0, input - cacheRead - cacheWrite),
    outputTokens: asCount(usage.output_tokens ?? usage.completion_tokens),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: asCount(outputDetails.reasoning_tokens),
  }
}

export const allInput = (usage: ModelUsage) => usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
export const inputDetails = (usage: ModelUsage) => ({
  cached_tokens: usage.cacheReadTokens,
  ...(usage.cacheWriteTokens > 0 && { cache_write_tokens: usage.cacheWriteTokens }),
})
