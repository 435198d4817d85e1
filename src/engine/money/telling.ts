import type { Clock } from '../../base/clock.ts'
import type { EventData } from '../../domain/event/event.ts'
import type { Cost } from '../../domain/money/prices.ts'
import type { CallFacts } from '../../gateway/money/purse.ts'
import type { Freed } from '../../store/events.ts'
import type { Booking } from '../../store/ledger.ts'
import type { Holder } from '../../store/reservations.ts'
import type { RunContext } from '../base/run-context.ts'
import { unitsOf, usdOf } from './allowance.ts'
import { bookingOf, calledData } from './model-called.ts'
import type { Pace } from './pace.ts'
import { createRefusedCalls } from './refused-calls.ts'
import type { Till } from './till.ts'

/** Hands what calls came to to the journal, a moment after they are over. */
export interface Telling {
  /** A call is over; it cost nothing if it was not served. */
  add(facts: CallFacts, cost: Cost | undefined): void
  /** At once, and from now on without delay. */
  close(): void
}

export interface TellingParts {
  readonly till: Till
  readonly pace: Pace
  readonly holder: Holder
  readonly clock: Clock
  readonly record: RunContext['recordEvent']
  /** What stays open beyond the calls under way. */
  slack(): number
  onTold(): void
}

/** How long what a call came to is kept back, so that a next call that follows at once finds its money still open. */
const keepBackMs = { slow: 20, quick: 60 }

interface Told {
  readonly data: EventData<'model.called'>
  readonly booking?: Booking
  readonly units: number
}

export function createTelling({ till, pace, holder, clock, record, slack, onTold }: TellingParts): Telling {
  const refused = createRefusedCalls(clock)
  let told: Told[] = []
  // Pacing of our own work, not a fact about time.
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  /** Each entry takes from what is open at least what it books; the last of them all that is no longer needed. */
  function tell(): void {
    clearTimeout(timer)
    timer = undefined
    if (told.length === 0) return
    const batch = told
    told = []
    const spent = till.untold
    till.untold = 0
    const spare = Math.max(0, till.open - till.underWay)
    pace.tells(
      batch.map(({ data, units }) => ({ durationMs: data.durationMs, units })),
      till.underWay,
    )
    let frees = Math.max(Math.min(spent, spare), spare - slack())
    till.open -= frees
    for (const [index, { data, booking, units }] of batch.entries()) {
      const part = index === batch.length - 1 ? frees : Math.min(units, frees)
      frees -= part
      const freed: Freed = { usd: usdOf(units), openUsd: usdOf(part) }
      void record({ type: 'model.called', data }, booking, freed)
    }
    onTold()
  }

  const unserved = (call: CallFacts, alike: number): Told => ({
    data: { ...calledData(call, undefined), ...(alike > 0 ? { alike } : {}) },
    units: 0,
  })

  return {
    add(facts, cost) {
      if (cost) {
        const units = unitsOf(cost.countedUsd)
        till.untold += units
        told.push({ data: calledData(facts, cost), units, booking: bookingOf(holder, facts, cost) })
      } else {
        const alike = refused.add(facts)
        if (alike !== undefined) told.push(unserved(facts, alike))
      }
      if (isClosed) tell()
      else timer ??= setTimeout(tell, pace.isQuick ? keepBackMs.quick : keepBackMs.slow)
    },
    close() {
      isClosed = true
      for (const { call, alike } of refused.rest()) told.push(unserved(call, alike))
      tell()
    },
  }
}
