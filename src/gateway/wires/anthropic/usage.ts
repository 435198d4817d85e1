import { asCount, asObject, parsedObject } from '../fields.ts'
import type { ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import type { UsageReader } from '../wire.ts'

/** The start of a stream tells what went in, its end what came out; counts are running totals, so the last one told counts. */
export function usageReader(): UsageReader {
  let told: JsonObject | undefined
  let hasEnded = false
  const take = (usage: unknown) => {
    const counts = asObject(usage)
    if (Object.keys(counts).length === 0) return
    told = told ? merged(told, counts) : counts
  }
  return {
    frame({ event, data }) {
      if (data.includes('"usage"')) {
        const body = parsedObject(data)
        take(body?.usage ?? asObject(body?.message).usage)
      }
      if (event === 'message_stop' || (event === undefined && data.includes('"type":"message_stop"'))) hasEnded = true
    },
    whole(body) {
      take(body.usage)
      hasEnded = body.stop_reason !== undefined && body.stop_reason !== null
    },
    get usage() {
      return told && usageOf(told)
    },
    get hasEnded() {
      return hasEnded
    },
  }
}

/** A later count of nothing does not take back an earlier one: some servers send zeros at the end for what only the start told. */
export function merged(earlier: JsonObject, later: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...earlier }
  for (const [key, value] of Object.entries(later)) if (value !== null && value !== 0) result[key] = value
  return result
}

export function usageOf(usage: JsonObject): ModelUsage {
  const hour = asCount(asObject(usage.cache_creation).ephemeral_1h_input_tokens)
  const pieces = Object.entries(asObject(usage.server_tool_use)).filter(([, count]) => asCount(count) > 0)
  return {
    inputTokens: asCount(usage.input_tokens),
    outputTokens: asCount(usage.output_tokens),
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens),
    reasoningTokens: asCount(asObject(usage.output_tokens_details).thinking_tokens),
    ...(hour > 0 && { cacheWriteHourTokens: hour }),
    ...(pieces.length > 0 && { pieces: Object.fromEntries(pieces.map(([name, count]) => [name, asCount(count)])) }),
  }
}

export const usageFields = (usage: ModelUsage | undefined) => ({
  input_tokens: usage?.inputTokens ?? 0,
  cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
  cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
  output_tokens: usage?.outputTokens ?? 0,
  ...(usage?.cacheWriteHourTokens && {
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWriteHourTokens,
      ephemeral_1h_input_tokens: usage.cacheWriteHourTokens,
    },
  }),
  ...(usage && usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  ...(usage?.pieces && { server_tool_use: usage.pieces }),
})
