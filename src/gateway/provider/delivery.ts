import type { ModelUsage, Refusal } from '../wires/model-event.ts'

/** How an answer that a provider had begun came to the client. */
export interface Delivery {
  /** What was used, if it was told to the end. */
  readonly usage?: ModelUsage | undefined
  /** What was told before the end, if it came no further. */
  readonly usageSoFar?: ModelUsage | undefined
  /** Why it is not whole. */
  readonly refusal?: Refusal | undefined
  /** The client went away. */
  readonly isAbandoned?: boolean | undefined
  /** The provider gave up before it had done anything. */
  readonly isUnserved?: boolean | undefined
}

/** The end of a stream that did not say how it ends. */
export const cutOff: Refusal = { kind: 'unavailable', message: 'The provider broke off in the middle of its answer.' }
export const silent: Refusal = { kind: 'timed_out', message: 'The provider fell silent in the middle of its answer.' }
