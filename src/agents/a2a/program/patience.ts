import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from './failure.ts'

/** So long nobody is reached before it is given up; whoever tries again goes on with the same task. */
export const outageMs = 10 * 60_000
/** Nothing has been begun there yet: whether to wait is better decided outside. */
export const firstContactMs = 45_000

/** Tries again while what goes wrong may pass. */
export async function persistently<T>(
  work: () => Promise<T>,
  { say, signal, forMs }: { say(record: object): Promise<void>; signal: AbortSignal; forMs: number },
): Promise<T> {
  const began = performance.now()
  for (let delayMs = 250; ; delayMs = Math.min(delayMs * 2, 10_000)) {
    try {
      return await work()
    } catch (thrown) {
      signal.throwIfAborted()
      if (!(thrown instanceof Failure) || !thrown.isPassing || performance.now() - began > forMs) throw thrown
      await say({ type: 'retrying', detail: thrown.message, delayMs })
      await wait(delayMs, undefined, { signal })
    }
  }
}
