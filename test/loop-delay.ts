import { monitorEventLoopDelay } from 'node:perf_hooks'

/** What `work` gave, and the longest time in milliseconds for which this thread answered to nobody meanwhile. */
export async function withLoopDelay<T>(work: () => Promise<T>): Promise<{ result: T; blockedMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const result = await work()
  // One more turn, so that a pause right at the end is seen.
  await new Promise((resolve) => setTimeout(resolve, 30))
  delay.disable()
  return { result, blockedMs: delay.max / 1e6 }
}
