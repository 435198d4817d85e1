/** Time, passed in. Wall time is for people and for rows; monotonic time is for judging how long something took. */
export interface Clock {
  /** Wall time in epoch milliseconds. May jump. */
  now(): number
  /** Milliseconds that only ever go forward. */
  monotonic(): number
  /** Calls back once after `ms` of monotonic time; the returned function cancels it and may be called twice. */
  after(ms: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}

export const sleep = (clock: Clock, ms: number) => new Promise<void>((done) => void clock.after(ms, done))
