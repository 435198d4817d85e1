import { asCount } from '../fields.ts'
import type { ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'

/** Ollama tells neither its cache nor what was thought. */
export function readUsage(body: JsonObject): ModelUsage | undefined {
  if (body.done !== true || (body.prompt_eval_count === undefined && body.eval_count === undefined)) return undefined
  return {
    inputTokens: asCount(body.prompt_eval_count),
    outputTokens: asCount(body.eval_count),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
}

export const writeUsage = (usage: ModelUsage | undefined): JsonObject =>
  usage === undefined
    ? {}
    : {
        prompt_eval_count: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
        eval_count: usage.outputTokens,
      }
