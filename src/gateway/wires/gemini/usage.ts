import { fieldsOf } from '../../../domain/base/object.ts'
import { asCount } from '../fields.ts'
import type { ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'

/** Gemini counts what came from the cache as a part of the prompt, and thoughts apart from the answer. */
export function readUsage(body: JsonObject): ModelUsage | undefined {
  if (body.usageMetadata === undefined) return undefined
  const told = fieldsOf(body.usageMetadata)
  const cacheReadTokens = asCount(told.cachedContentTokenCount)
  const reasoningTokens = asCount(told.thoughtsTokenCount)
  const prompt = asCount(told.promptTokenCount) + asCount(told.toolUsePromptTokenCount)
  return {
    inputTokens: Math.max(0, prompt - cacheReadTokens),
    outputTokens: asCount(told.candidatesTokenCount) + reasoningTokens,
    cacheReadTokens,
    cacheWriteTokens: 0,
    reasoningTokens,
  }
}

export function writeUsage(usage: ModelUsage): JsonObject {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
    totalTokenCount: prompt + usage.outputTokens,
    ...(usage.cacheReadTokens > 0 ? { cachedContentTokenCount: usage.cacheReadTokens } : {}),
    ...(usage.reasoningTokens > 0 ? { thoughtsTokenCount: usage.reasoningTokens } : {}),
  }
}
