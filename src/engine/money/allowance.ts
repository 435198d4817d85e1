import type { CountedAgainst, Standing } from '../../store/reservations.ts'
import { type Capped, dollars } from './caps.ts'

/** Money as it is counted here: whole ten-billionths of a dollar, as fine as the ledger's, so that sums are exact. */
export const unitsOf = (usd: number) => Math.round(usd * 1e10)
/** Of what may be spent. */
export const unitsAbove = (usd: number) => Math.ceil(usd * 1e10 - 1e-3)
export const usdOf = (units: number) => units / 1e10

/**
 * What a run asks for: so much more for calls at once, at best for all that wait; what the first of them could cost by itself; while caps are far, something for calls
 * to come; and, held only, what one that is expected will need: whoever needs it sooner takes that back.
 */
export interface Wish {
  readonly least: number
  readonly most: number
  readonly slack: number
  readonly expected?: number
  readonly call: number
  readonly model: string
}

export type Decision =
  | { readonly kind: 'granted'; readonly usd: number; readonly open: number }
  /** It fits if others give back what they hold ahead. */
  | { readonly kind: 'reclaim' }
  /** It may fit when calls that are under way have ended and cost less than they could. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'over'; readonly message: string }

/** How many times the need a run holds ahead while caps are far, and the part of what is left that it takes for that at most. */
const aheadTimes = 8
const aheadPart = 20

/** Whether a run may hold more, by every cap that counts for it. Pure; in units. */
export function decide(standing: Standing, capped: Capped, wish: Wish): Decision {
  const caps = capsOn(standing, capped, usdOf(wish.call))
  const own = { usd: unitsOf(standing.own.usd), open: unitsOf(standing.own.openUsd) }
  const idle = own.usd - own.open
  const leftOf = (held: (cap: Cap) => number) => Math.min(...caps.map((cap) => cap.most - cap.booked - held(cap)))
  const least = Math.max(0, wish.least - idle)

  const left = leftOf((cap) => cap.others + own.usd)
  if (least === 0 || least <= left) {
    const room = idle + Math.max(0, left)
    const needed = Math.min(wish.most, room)
    const open = needed + Math.min(wish.slack, Math.floor((room - needed) / aheadPart))
    const raise = Math.max(0, open - idle)
    const rest = Math.max(0, left - raise)
    const ahead = Math.max(Math.min(aheadTimes * open, Math.floor(rest / aheadPart)), Math.min(wish.expected ?? 0, rest))
    return { kind: 'granted', open, usd: raise + ahead }
  }
  if (least <= leftOf((cap) => cap.othersOpen + own.usd)) return { kind: 'reclaim' }
  const tightest = caps.reduce((one, other) => (other.most - other.booked < one.most - one.booked ? other : one))
  if (wish.call <= tightest.most - tightest.booked) return { kind: 'wait' }
  const could = `the next call of ${wish.model} could cost up to ${dollars(usdOf(wish.call))}, and ${dollars(Math.max(0, usdOf(tightest.most - tightest.booked)))} is left`
  return { kind: 'over', message: tightest.sentence(dollars(usdOf(tightest.booked)), could) }
}

interface Cap {
  readonly most: number
  readonly booked: number
  readonly others: number
  readonly othersOpen: number
  readonly sentence: (used: string, could: string) => string
}

function capsOn(standing: Standing, { task, agent, user, budget, shared }: Capped, callUsd: number): Cap[] {
  const caps: Cap[] = []
  const add = (
    most: number | undefined,
    counted: CountedAgainst,
    sentence: (used: string, most: string, could: string) => string,
  ) => {
    if (most === undefined) return
    caps.push({
      most: unitsOf(most),
      booked: unitsOf(counted.bookedUsd),
      others: unitsOf(counted.othersUsd),
      othersOpen: unitsOf(counted.othersOpenUsd),
      sentence: (used, could) => sentence(used, dollars(most), could),
    })
  }
  /** Twice as much, or more if the call would not fit into that either. */
  const enough = (usd = 0, used = 0) => Math.max(1, Math.ceil(usd * 2), Math.ceil(used + callUsd))
  add(
    budget.perRunUsd,
    { bookedUsd: standing.runUsd, othersUsd: 0, othersOpenUsd: 0 },
    (used, most, could) =>
      `This run has used ${used}, and one run may use ${most} (budget.perRunUsd of its agent): ${could}. Go on with more: pawl task retry ${task} --budget-run-usd ${enough(budget.perRunUsd)}`,
  )
  for (const tree of standing.trees) {
    const whose = tree.task === task ? 'The task' : `The task ${tree.task}, of which this one is a part,`
    add(
      tree.budget.usd,
      tree,
      (used, most, could) =>
        `${whose} has used ${used} with all its runs and subtasks; its budget is ${most}: ${could}. Go on with a larger one: pawl task retry ${tree.task} --budget-usd ${enough(tree.budget.usd, tree.bookedUsd)}`,
    )
  }
  const later = `Raise it in the settings, or go on tomorrow (${shared.timeZone}) with: pawl task retry ${task}`
  add(
    budget.perAgentDayUsd,
    standing.agentDay,
    (used, most, could) =>
      `The agent ${agent} has used ${used} today; it may use ${most} a day (budget.perAgentDayUsd of the agent): ${could}. ${later}`,
  )
  add(
    shared.userDayUsd,
    standing.userDay,
    (used, most, could) =>
      `The tasks of ${user} have used ${used} today; a user may use ${most} a day (budget.userDay): ${could}. ${later}`,
  )
  add(
    shared.dayUsd,
    standing.day,
    (used, most, could) =>
      `All tasks together have used ${used} today; the day's budget is ${most} (budget.day): ${could}. ${later}`,
  )
  add(
    shared.monthUsd,
    standing.month,
    (used, most, could) =>
      `All tasks together have used ${used} this month; the month's budget is ${most} (budget.month): ${could}. Raise it in the settings, then: pawl task retry ${task}`,
  )
  return caps
}
