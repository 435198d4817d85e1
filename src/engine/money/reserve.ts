import type { Clock } from '../../base/clock.ts'
import type { Budget } from '../../domain/agent/agent-config.ts'
import { PawlError } from '../../domain/error.ts'
import { atOnce } from '../../store/at-once.ts'
import type { Db } from '../../store/database.ts'
import {
  type Holder,
  lockReservations,
  openReservation,
  raiseReservation,
  reclaimOthers,
  type Standing,
  standingOf,
} from '../../store/reservations.ts'
import type { Journal } from '../journal/journal.ts'
import { type Decision, decide, usdOf, type Wish } from './allowance.ts'
import { periodStarts } from './day.ts'
import type { Money } from './meter.ts'

/** Asks for more money that a run may have under way. What is granted is stored. Rejects with `isLostNow` if the run is no longer ours. */
export type Reserve = (wish: Wish, route: Whose) => Promise<Decision>

/** Which model money is held for, and of whom. */
export interface Whose {
  readonly target: string
  readonly provider: { readonly name: string }
}

/** What the run holds ahead is opened without a look at any cap, since it counts against them already. Only more than that is decided, by one at a time over all processes. */
export function createReserve(parts: {
  db: Db
  journal: Pick<Journal, 'transact'>
  clock: Clock
  money: Money
  holder: Holder
  budget: Budget
}): Reserve {
  const { db, journal, clock, money, holder, budget } = parts
  const { caps: shared } = money
  const capped = { task: holder.task, agent: holder.agent, user: holder.user, budget, shared }
  const hasDayCap = [budget.perAgentDayUsd, shared.userDayUsd, shared.dayUsd].some((cap) => cap !== undefined)
  let holdsAny = false

  return async (wish, { target, provider }) => {
    if (holdsAny)
      for (const open of new Set([wish.most + wish.slack, wish.most, wish.least]))
        if (open > 0 && (await openReservation(db, holder.run, usdOf(open)))) return { kind: 'granted', usd: 0, open }
    const decision = await journal.transact('money.reserve', async (tx) => {
      const now = clock.now()
      const starts = periodStarts(now, shared.timeZone)
      const since = { day: hasDayCap ? starts.day : undefined, month: shared.monthUsd === undefined ? undefined : starts.month }
      const found = (standing: Standing | undefined) => {
        if (!standing) throw isLostNow
        return decide(standing, capped, wish)
      }
      const [, standing] = await atOnce(tx, (one) => [lockReservations(one), standingOf(one, holder, since)])
      let decided = found(standing)
      if (decided.kind === 'reclaim') {
        const [, now] = await atOnce(tx, (one) => [reclaimOthers(one, holder.run), standingOf(one, holder, since)])
        decided = found(now)
      }
      if (decided.kind === 'granted') {
        const by = { usd: usdOf(decided.usd), openUsd: usdOf(decided.open) }
        await raiseReservation(tx, holder, by, { model: target, provider: provider.name }, new Date(now))
      }
      return decided
    })
    if (decision.kind === 'granted') holdsAny = true
    return decision
  }
}

export const isLostNow = new PawlError('denied', 'This run was given to another worker; it may spend nothing more.')
