/**
 * What is kept open for calls that follow each other quickly, so that they do not wait for the database. Pure; in units. Calls that come slowly get nothing by it:
 * what is open when a process dies counts as spent, and should be little more than what is under way.
 */
export interface Pace {
  /** So much is under way now. */
  sees(underWay: number): void
  /** These calls were told at once, while so much is under way. */
  tells(calls: readonly { readonly durationMs: number; readonly units: number }[], underWay: number): void
  /** Calls follow each other quickly. */
  readonly isQuick: boolean
  /** What should be open beyond what is under way. */
  readonly wanted: number
  /** Whether so much open beyond what is under way will not last long. */
  isLow(spare: number): boolean
  /** No more calls are expected. */
  rest(): void
}

/** What calls come to in so many tellings is kept open at best, and asked for again when it is down to so many. */
const tellings = { best: 8, low: 3 }

/** One that takes longer does not feel a write to the database. */
const quickMs = 500

export function createPace(): Pace {
  let peak = 0
  let isQuick = false
  let wanted = 0
  let low = 0
  return {
    sees(underWay) {
      peak = Math.max(peak, underWay)
    },
    tells(calls, underWay) {
      const quick = calls.filter(({ durationMs }) => durationMs < quickMs)
      const spent = quick.reduce((sum, { units }) => sum + units, 0)
      const more = Math.max(0, peak - underWay)
      isQuick = quick.length > 1
      wanted = isQuick ? more + tellings.best * spent : 0
      low = isQuick ? more + tellings.low * spent : 0
      peak = underWay
    },
    get isQuick() {
      return isQuick
    },
    get wanted() {
      return wanted
    },
    isLow: (spare) => spare < low,
    rest() {
      isQuick = false
      wanted = 0
      low = 0
    },
  }
}
