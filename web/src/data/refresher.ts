import { pause } from '../../../src/client/transport/follow.ts'

/** What comes within this is answered by one refresh. */
const gatherMs = 150
const restMs = 800

/**
 * A function to be called with every change, however many there are. It refreshes soon after the first one, then about once a second while they go on, and less often
 * when a refresh takes long: one that is under way is never begun anew, so that what it asks for does arrive.
 */
export function refresher(refresh: () => Promise<unknown>, signal: AbortSignal): () => void {
  let isDue = false
  let isBusy = false
  const work = async () => {
    isBusy = true
    try {
      while (isDue && !signal.aborted) {
        await pause(gatherMs, signal)
        if (signal.aborted) return
        isDue = false
        const begun = performance.now()
        await refresh()
        await pause(Math.max(restMs, 3 * (performance.now() - begun)), signal)
      }
    } finally {
      isBusy = false
    }
  }
  return () => {
    isDue = true
    if (!isBusy) void work()
  }
}
