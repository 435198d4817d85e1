import type { Clock } from '../../base/clock.ts'
import type { Pace } from './pace.ts'
import { spareIn, type Till } from './till.ts'

/** Keeps money open for calls that follow each other quickly, and gives it back when they do not any more. */
export interface KeptAhead {
  /** A call is over. */
  ended(): void
  /** What calls came to was told, and so taken from what is open. */
  told(): void
  /** Resolves when nothing is asked for any more. */
  stop(): Promise<void>
}

export interface KeptAheadParts {
  readonly till: Till
  readonly pace: Pace
  readonly clock: Clock
  /** Asks for so much more; resolves with what there is. Undefined where it is no time to ask. */
  ask(units: number): Promise<number> | undefined
  giveBack(): Promise<void>
  onError(error: unknown): void
}

/** How long after the last of calls that followed each other quickly what was kept open for more of them is given back. */
const quietMs = 250
/** Near a cap nothing is to be had for calls that are still to come; that is not asked all the time. */
const askAgainMs = 1_000

export function createKeptAhead({ till, pace, clock, ask, giveBack, onError }: KeptAheadParts): KeptAhead {
  let easing: NodeJS.Timeout | undefined
  let asking: Promise<void> | undefined
  let askAfter = 0
  let lastEnd = 0
  let isStopped = false

  /** Before calls have to wait for it. */
  function refill(): void {
    if (asking || clock.monotonic() < askAfter) return
    const wanted = pace.wanted - spareIn(till)
    asking = ask(wanted)
      ?.then((got) => {
        till.open += got
        if (got < wanted) askAfter = clock.monotonic() + askAgainMs
      })
      .catch(onError)
      .finally(() => {
        asking = undefined
      })
  }

  function ease(): void {
    easing = undefined
    if (isStopped) return
    if (clock.monotonic() - lastEnd < quietMs) easing = setTimeout(ease, quietMs)
    else {
      pace.rest()
      giveBack().catch(onError)
    }
  }

  return {
    ended() {
      lastEnd = clock.monotonic()
    },
    told() {
      if (isStopped || !pace.isQuick) return
      easing ??= setTimeout(ease, quietMs)
      if (pace.isLow(till.open - till.underWay)) refill()
    },
    async stop() {
      isStopped = true
      clearTimeout(easing)
      await asking
    },
  }
}
