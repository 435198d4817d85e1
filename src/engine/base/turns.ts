import { setImmediate as breathe } from 'node:timers/promises'

const sliceMs = 5

/** For long work by calls that wait, which are several times faster than calls that do not: awaited between two steps, it gives everybody else a turn every few milliseconds. */
export function takingTurns(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since <= sliceMs) return
    await breathe()
    since = performance.now()
  }
}
