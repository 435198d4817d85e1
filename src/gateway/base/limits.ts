/** How long things may take, and how much of them there may be. */
export interface GatewayLimits {
  readonly maxBodyBytes: number
  /** Of all requests of one run that are not answered yet, together. */
  readonly maxHeldBytes: number
  readonly connectMs: number
  /** From the request to the answer's head; a model may think for long before it says anything. */
  readonly firstByteMs: number
  /** Between two pieces of an answer. */
  readonly idleMs: number
  /** A request waits for the end of a limit that is not further away than this. */
  readonly maxHoldMs: number
}

export const defaultLimits: GatewayLimits = {
  maxBodyBytes: 64 * 1024 * 1024,
  maxHeldBytes: 256 * 1024 * 1024,
  connectMs: 15_000,
  firstByteMs: 10 * 60_000,
  idleMs: 15 * 60_000,
  maxHoldMs: 5_000,
}
