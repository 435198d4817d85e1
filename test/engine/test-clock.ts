import type { Clock } from '../../src/base/clock.ts'

/** A clock that a test moves by hand: wall time may jump either way, monotonic time only goes forward. */
export class HandClock implements Clock {
  #wall: number
  #mono = 1_000_000
  #timers: { at: number; fn: () => void }[] = []

  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#wall = startMs
  }

  now = () => this.#wall
  monotonic = () => this.#mono
  after = (ms: number, fn: () => void) => {
    const timer = { at: this.#mono + ms, fn }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** The wall clock is set, nothing else happens: what an operator or a time server does. */
  jump(ms: number): void {
    this.#wall += ms
  }

  /** Time passes; timers that come due are called, earliest first. */
  advance(ms: number): void {
    const until = this.#mono + ms
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      const step = Math.max(next.at - this.#mono, 0)
      this.#mono += step
      this.#wall += step
      next.fn()
    }
    this.#wall += until - this.#mono
    this.#mono = until
  }

  /** The machine slept: on waking, all the time has passed before the first timer is called. */
  sleep(ms: number): void {
    this.#wall += ms
    this.#mono += ms
    this.advance(0)
  }
}
