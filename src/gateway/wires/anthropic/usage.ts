import { fieldsOf } from '../../../domain/base/object.ts'
import { asCount, parsedObject } from '../fields.ts'
import type { ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import type { Frame, UsageReader } from '../wire.ts'

/** The start of a stream tells what went in, its end what came out; counts are running totals, so the last one told counts. */
export class AnthropicUsageReader implements UsageReader {
  #told: JsonObject | undefined
  hasEnded = false

  get usage(): ModelUsage | undefined {
    return this.#told && usageOf(this.#told)
  }

  frame({ event, data }: Frame): void {
    if (data.includes('"usage"')) {
      const body = parsedObject(data)
      this.#take(body?.usage ?? fieldsOf(body?.message).usage)
    }
    if (event === 'message_stop' || (event === undefined && data.includes('"type":"message_stop"'))) this.hasEnded = true
  }

  whole(body: JsonObject): void {
    this.#take(body.usage)
    this.hasEnded = body.stop_reason !== undefined && body.stop_reason !== null
  }

  #take(usage: unknown): void {
    const counts = fieldsOf(usage)
    if (Object.keys(counts).length === 0) return
    this.#told = this.#told ? merged(this.#told, counts) : counts
  }
}

/** A later count of nothing does not take back an earlier one: some servers send zeros at the end for what only the start told. */
export function merged(earlier: JsonObject, later: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...earlier }
  for (const [key, value] of Object.entries(later)) if (value !== null && value !== 0) result[key] = value
  return result
}

export function usageOf(usage: JsonObject): ModelUsage {
  const hour = asCount(fieldsOf(usage.cache_creation).ephemeral_1h_input_tokens)
  const pieces = Object.entries(fieldsOf(usage.server_tool_use)).filter(([, count]) => asCount(count) > 0)
  return {
    inputTokens: asCount(usage.input_tokens),
    outputTokens: asCount(usage.output_tokens),
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens),
    reasoningTokens: asCount(fieldsOf(usage.output_tokens_details).thinking_tokens),
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
