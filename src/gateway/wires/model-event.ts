import type { JsonObject, Part } from './model-request.ts'

/** A model's answer as it comes, in no provider's words. Parts come one after another, each begun, filled and ended, but for `usage`, which may come at any time. */
export type ModelEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** Ends what was thought so far. */
  | { readonly type: 'thinking_seal'; readonly seal: string }
  | { readonly type: 'tool_call'; readonly index: number; readonly id: string; readonly name: string; readonly seal?: string }
  /** A piece of the JSON text of the input of the call with that index. Calls may come side by side. */
  | { readonly type: 'tool_input'; readonly index: number; readonly json: string }
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  | { readonly type: 'end'; readonly reason: EndReason }
  /** The provider gave up in the middle. */
  | { readonly type: 'error'; readonly kind: RefusalKind; readonly message: string }

export type EndReason = 'end' | 'max_tokens' | 'tool_calls' | 'stop_sequence' | 'refused' | 'paused'

/** Of one call; each token counted once: `inputTokens` are those that came neither from nor went into the cache, and reasoning is a part of the output. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** Those of `cacheWriteTokens` that are kept for an hour, which some providers ask more for. */
  readonly cacheWriteHourTokens?: number | undefined
  /** Things paid by the piece, such as searches that the provider does itself, by the provider's name for them. */
  readonly pieces?: Readonly<Record<string, number>> | undefined
}

/** A whole answer. */
export interface ModelAnswer {
  readonly id: string
  readonly model: string
  readonly parts: readonly Part[]
  readonly reason: EndReason
  /** Undefined if the provider told none. */
  readonly usage?: ModelUsage | undefined
}

/** Why a call was refused, by us or by the provider. Each format has its own words, status and headers for them. */
export const refusalKinds = [
  'invalid',
  'unauthorized',
  'forbidden',
  'not_found',
  'too_large',
  'context_overflow',
  'rate_limited',
  'usage_limit',
  'over_budget',
  'overloaded',
  'unavailable',
  'timed_out',
] as const
export type RefusalKind = (typeof refusalKinds)[number]

export interface Refusal {
  readonly kind: RefusalKind
  /** A sentence for whoever reads the agent's error. */
  readonly message: string
  readonly retryAt?: Date | undefined
}

export interface RefusalAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}
