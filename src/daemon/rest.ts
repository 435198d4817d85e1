import type { Clock } from '../base/clock.ts'

/** So long after the last thing that happened, work is over for now. Whoever reads an answer and asks again does so sooner, and would find us cold: a tenth of a second for a turn. */
const quietMs = 60_000

/** Gives memory back to the machine when work is over. Left to itself, V8 does so minutes later, or not at all. */
export interface Rest {
  /** Something happens: not yet. Called with every event, so it costs next to nothing. */
  stir(): void
  stop(): void
}

export interface RestParts {
  readonly clock: Clock
  /** An agent is at work, or waits for its next turn: it may be silent for long, and what comes next should not find us cold. */
  isBusy(): boolean
  readonly collect?: typeof globalThis.gc
}

/** Undefined in a process that was started without leave to collect: see bin/load.js. Whoever has Pawl as a library decides over his own memory. */
export function createRest({ clock, isBusy, collect = globalThis.gc }: RestParts): Rest | undefined {
  if (!collect) return undefined
  let stirredAt = clock.monotonic()
  let cancel: (() => void) | undefined
  const look = (inMs: number) => {
    cancel = clock.after(inMs, () => {
      cancel = undefined
      const leftMs = isBusy() ? quietMs : stirredAt + quietMs - clock.monotonic()
      if (leftMs > 0) look(leftMs)
      // All that can be had: nobody waits for it now, and pages that are half empty count as full ones. It costs most of the code that V8 has made quick.
      else collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    })
  }
  look(quietMs)
  return {
    stir() {
      stirredAt = clock.monotonic()
      if (!cancel) look(quietMs)
    },
    stop: () => cancel?.(),
  }
}
