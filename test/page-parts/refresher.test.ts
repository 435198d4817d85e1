import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { refresher } from '../../web/src/data/refresher.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A refresh that takes a time, and a change every ten milliseconds. */
async function storm(options: { takesMs: number; lastsMs: number }) {
  const ended = new AbortController()
  let [begun, done, atOnce, most] = [0, 0, 0, 0]
  const change = refresher(async () => {
    begun++
    most = Math.max(most, ++atOnce)
    await new Promise((resolve) => setTimeout(resolve, options.takesMs))
    atOnce--
    done++
  }, ended.signal)
  for (let ms = 0; ms < options.lastsMs; ms += 10) {
    change()
    await vi.advanceTimersByTimeAsync(10)
  }
  return { ended, change, counts: () => ({ begun, done, most }) }
}

describe('what is shown', () => {
  it('is refreshed soon after a single change, and once', async () => {
    const { counts } = await storm({ takesMs: 5, lastsMs: 10 })
    await vi.advanceTimersByTimeAsync(290)
    expect(counts()).toEqual({ begun: 1, done: 1, most: 1 })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(counts().begun).toBe(1)
  })

  it('is refreshed about once a second in a storm of changes, and once more after it', async () => {
    const { counts } = await storm({ takesMs: 20, lastsMs: 10_000 })
    const during = counts().begun
    expect(during).toBeGreaterThanOrEqual(8)
    expect(during).toBeLessThanOrEqual(12)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(counts().begun).toBe(during + 1)
  })

  it('is refreshed less often where that takes long, and never begun anew before it is done', async () => {
    const { counts } = await storm({ takesMs: 2_000, lastsMs: 30_000 })
    expect(counts().begun).toBeLessThanOrEqual(5)
    expect(counts().done).toBeGreaterThanOrEqual(3)
    expect(counts().most).toBe(1)
  })

  it('is left alone once nobody looks', async () => {
    const { ended, change, counts } = await storm({ takesMs: 20, lastsMs: 1_000 })
    ended.abort()
    const before = counts().begun
    change()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(counts().begun).toBe(before)
  })
})
