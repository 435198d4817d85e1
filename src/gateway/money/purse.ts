import { PawlError } from '../../domain/error.ts'
import type { Route } from '../base/route.ts'
import type { ModelUsage, RefusalKind } from '../wires/model-event.ts'

/** One run's money. Nothing leaves for a provider before its worst price is reserved; what is reserved outlives this process. */
export interface Purse {
  /** Resolves when the reservation is stored. Rejects with `OverCap`. */
  reserve(call: WorstCase): Promise<Reservation>
}

export interface WorstCase {
  readonly route: Route
  readonly inputTokens: number
  readonly outputTokens: number
  /** So few would do where no more fit, if the answer is bounded to them. Undefined: all of them, or none. */
  readonly leastOutputTokens?: number | undefined
  /** False: what goes in is kept for no longer than usual. Undefined: nobody knows. */
  readonly isKeptForHour?: boolean | undefined
  /** The most of what is paid by the piece, by the provider's name for it. */
  readonly pieces?: Readonly<Record<string, number>> | undefined
  /** How many times the listed price is paid for it; once if left out. */
  readonly times?: number | undefined
}

/** Exactly one of the two ends is called, once. */
export interface Reservation {
  /** What the answer must be bounded to: what was asked, or less where a cap is near. */
  readonly outputTokens: number
  /** What was really used. Undefined if the provider has served it and told nothing: then the worst is counted. */
  settle(call: CallFacts): void
  /** The provider has not served it. */
  release(call: CallFacts): void
}

/** The cap would be passed. The run is stopped by whoever holds the purse; the gateway says it in the client's format. */
export class OverCap extends PawlError {
  constructor(message: string) {
    super('denied', message)
  }
}

/** What is known of one call when it is over: for the ledger, the journal, the figures and the spans. Holds no content. */
export interface CallFacts {
  /** From 1, in the order in which the run asked. */
  readonly number: number
  readonly route: Route
  /** As the client called it. */
  readonly asked: string
  readonly translated: boolean
  readonly streamed: boolean
  readonly startedAt: Date
  /** Until the first byte of the answer's body came; undefined if none did. */
  readonly firstMs?: number | undefined
  readonly durationMs: number
  /** The provider's; undefined if it gave no answer. */
  readonly status?: number | undefined
  /** What was used, told by the provider in an answer that it brought to its end. */
  readonly usage?: ModelUsage | undefined
  /** What was told in an answer that broke off or was abandoned: what went in is right, what came out may be more. */
  readonly usageSoFar?: ModelUsage | undefined
  /** Why it was refused, or broke off. */
  readonly refusal?: { readonly kind: RefusalKind; readonly message: string; readonly retryAt?: Date | undefined } | undefined
  /** Whoever asked went away before the end. */
  readonly abandoned?: boolean | undefined
}
