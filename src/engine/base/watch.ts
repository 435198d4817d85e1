import type { Clock } from '../../base/clock.ts'

/** Why a run is ended by us and not by its agent. The first reason stands, but a lost lease outranks all: then nothing may be written. */
export type StopReason =
  | { readonly kind: 'cancelled'; readonly now: boolean }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'lease_lost' }
  | { readonly kind: 'timed_out'; readonly category: 'total_timeout' | 'idle_timeout'; readonly message: string }
  | { readonly kind: 'limit'; readonly category: 'output_limit' | 'oom' | 'disk_limit' | 'max_turns'; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'tripped'; readonly message: string }
  | { readonly kind: 'over_budget'; readonly message: string }

/** The timers of one run, and the one place that knows whether and why it was told to stop. */
export class Watch {
  reason: StopReason | undefined
  readonly #controller = new AbortController()
  readonly #clock: Clock
  #idleMs: number | null
  readonly #cancels: (() => void)[] = []
  #lastEvent: number
  #end: (() => void) | undefined

  constructor(clock: Clock, limits: { totalMs: number | null; idleMs: number | null }) {
    this.#clock = clock
    this.#idleMs = limits.idleMs
    this.#lastEvent = clock.monotonic()
    const { totalMs } = limits
    if (totalMs === null) return
    // Preparing counts: a copy of a huge workspace may take as long as the work.
    const message = `The run took longer than ${seconds(totalMs)}.`
    this.#after(totalMs, () => this.stop({ kind: 'timed_out', category: 'total_timeout', message }))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The agent runs: its silence is watched from now on; `end` is called for every stop, so that a later, harder one can cut the grace short. */
  begin(end: () => void): void {
    this.#end = end
    this.#lastEvent = this.#clock.monotonic()
    this.#watchSilence()
    if (this.reason) end()
  }

  /** The turn is over: silence is expected from now on, and there is nobody left to stop. */
  finish(): void {
    this.#idleMs = null
    this.#end = undefined
  }

  /** The agent said something; silence is counted in events, not bytes. */
  sawEvent(): void {
    this.#lastEvent = this.#clock.monotonic()
  }

  stop(reason: StopReason): void {
    const harder =
      reason.kind === 'lease_lost' || (reason.kind === 'cancelled' && reason.now && this.reason?.kind === 'cancelled')
    if (this.reason && !harder) return
    this.reason = reason
    this.#controller.abort()
    this.#end?.()
  }

  /** How long the agent may tidy up. */
  graceMs(configured: number): number {
    switch (this.reason?.kind) {
      case 'cancelled':
        return this.reason.now ? 0 : configured
      case 'interrupted':
        return Math.min(configured, 5_000)
      case 'timed_out':
        return configured
      // Long enough to tell what it has used and said; whatever it asks meanwhile is refused as before.
      case 'denied':
        return Math.min(configured, 3_000)
      default:
        return 0
    }
  }

  close(): void {
    for (const cancel of this.#cancels) cancel()
    this.#end = undefined
  }

  #watchSilence(): void {
    const idleMs = this.#idleMs
    if (idleMs === null) return
    const left = this.#lastEvent + idleMs - this.#clock.monotonic()
    if (left <= 0)
      this.stop({ kind: 'timed_out', category: 'idle_timeout', message: `The agent said nothing for ${seconds(idleMs)}.` })
    else this.#after(left, () => this.#watchSilence())
  }

  #after(ms: number, fn: () => void): void {
    // Node's timers hold 31 bits of milliseconds; a run may be allowed weeks.
    const step = Math.min(ms, 2_000_000_000)
    this.#cancels.push(this.#clock.after(step, () => (ms > step ? this.#after(ms - step, fn) : fn())))
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
