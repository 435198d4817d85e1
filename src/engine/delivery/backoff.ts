const firstMs = 10_000
/** Nothing waits longer than this for its next try. */
export const longestBackoffMs = 6 * 3_600_000

/** How long after so many tries the next one comes: doubling, and spread over its half so that not all come back at once. */
export function backoffMs(tries: number, chance: number): number {
  const whole = Math.min(firstMs * 2 ** (tries - 1), longestBackoffMs)
  return Math.round(whole * (0.5 + chance / 2))
}
