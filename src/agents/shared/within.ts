import { setTimeout as wait } from 'node:timers/promises'

/** What a promise brings, or undefined if it takes longer; the timer goes with whoever is first. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const over = new AbortController()
  const late = wait(ms, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    over.abort()
  }
}
