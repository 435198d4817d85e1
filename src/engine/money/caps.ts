import type { Budget } from '../../domain/agent/agent-config.ts'
import { tokensOf } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { TreeSpent } from '../../store/ledger.ts'
import type { StopReason } from '../base/watch.ts'

/** What this run has used so far. */
export interface RunSpent {
  readonly countedUsd: number
  readonly usage: Usage
}

/** What others have spent that counts against the same caps: this run is in none of it. */
export interface OthersSpent {
  /** The task itself first, then each task that it is a part of. */
  readonly trees: readonly TreeSpent[]
  readonly day?: { readonly all: number; readonly agent: number; readonly user: number } | undefined
  readonly month?: { readonly all: number } | undefined
}

/** Caps over everything that this Pawl runs. */
export interface SharedCaps {
  readonly dayUsd?: number | undefined
  readonly monthUsd?: number | undefined
  readonly userDayUsd?: number | undefined
  readonly timeZone: string
}

export interface Capped {
  readonly task: string
  readonly agent: string
  readonly user: string
  /** The caps of the task itself; those of the tasks above it come with what they have spent. */
  readonly budget: Budget
  readonly shared: SharedCaps
}

/** The first cap that is used up, said so that somebody can raise it. Pure. */
export function overCap(run: RunSpent, others: OthersSpent, capped: Capped): StopReason | undefined {
  const { budget, shared, task } = capped
  const money = (message: string): StopReason => ({ kind: 'over_budget', message })
  const isOver = (spent: number, cap: number | undefined): cap is number => cap !== undefined && spent > 0 && spent >= cap
  const again = `pawl task retry ${task} --budget-usd`

  if (isOver(run.countedUsd, budget.perRunUsd))
    return money(
      `This run has used ${dollars(run.countedUsd)}, and one run may use ${dollars(budget.perRunUsd)} (budget.perRunUsd of its agent). Go on with more: pawl task retry ${task} --budget-run-usd ${Math.max(1, Math.ceil(run.countedUsd * 2))}`,
    )
  for (const tree of treesOf(others, capped)) {
    const usd = tree.countedUsd + run.countedUsd
    const whose = tree.task === task ? 'The task' : `The task ${tree.task}, of which this one is a part,`
    const all = 'with all its runs and subtasks'
    if (isOver(usd, tree.budget.usd))
      return money(
        `${whose} has used ${dollars(usd)} ${all}; its budget is ${dollars(tree.budget.usd)}. Go on with a larger one: ${tree.task === task ? again : `pawl task retry ${tree.task} --budget-usd`} ${Math.max(1, Math.ceil(usd * 2))}`,
      )
    const tokens = tree.tokens + tokensOf(run.usage)
    if (isOver(tokens, tree.budget.tokens))
      return money(
        `${whose} has used ${tokens} tokens ${all}; it may use ${tree.budget.tokens}. Go on with more: pawl task retry ${tree.task} --budget-tokens ${tokens * 2}`,
      )
    const turns = tree.turns + run.usage.turns
    // The last turn that is allowed is allowed to end.
    if (tree.budget.turns !== undefined && turns > tree.budget.turns)
      return {
        kind: 'limit',
        category: 'max_turns',
        message: `${whose} has taken more than the ${tree.budget.turns} turns it may take ${all}. Go on with more: pawl task retry ${tree.task} --budget-turns ${tree.budget.turns * 2}`,
      }
  }
  const day = others.day && {
    all: others.day.all + run.countedUsd,
    agent: others.day.agent + run.countedUsd,
    user: others.day.user + run.countedUsd,
  }
  const later = `Raise it in the settings, or go on tomorrow (${shared.timeZone}) with: pawl task retry ${task}`
  if (day && isOver(day.agent, budget.perAgentDayUsd))
    return money(
      `The agent ${capped.agent} has used ${dollars(day.agent)} today; it may use ${dollars(budget.perAgentDayUsd)} a day (budget.perAgentDayUsd of the agent). ${later}`,
    )
  if (day && isOver(day.user, shared.userDayUsd))
    return money(
      `The tasks of ${capped.user} have used ${dollars(day.user)} today; a user may use ${dollars(shared.userDayUsd)} a day (budget.userDay). ${later}`,
    )
  if (day && isOver(day.all, shared.dayUsd))
    return money(
      `All tasks together have used ${dollars(day.all)} today; the day's budget is ${dollars(shared.dayUsd)} (budget.day). ${later}`,
    )
  const month = others.month && others.month.all + run.countedUsd
  if (month !== undefined && isOver(month, shared.monthUsd))
    return money(
      `All tasks together have used ${dollars(month)} this month; the month's budget is ${dollars(shared.monthUsd)} (budget.month). Raise it in the settings, then: pawl task retry ${task}`,
    )
  return undefined
}

/** A task of which nothing was asked yet has spent nothing elsewhere. */
const treesOf = ({ trees }: OthersSpent, { task, budget }: Capped): readonly TreeSpent[] =>
  trees.length > 0 ? trees : [{ task, budget, countedUsd: 0, tokens: 0, turns: 0, ranMs: 0 }]

/** What is left of the task's own budget and of those above it; undefined if there is no such cap. */
export function leftUsd(others: OthersSpent, capped: Capped): number | undefined {
  const left = treesOf(others, capped).flatMap(({ budget, countedUsd }) =>
    budget.usd === undefined ? [] : [budget.usd - countedUsd],
  )
  const { perRunUsd } = capped.budget
  const caps = perRunUsd === undefined ? left : [...left, perRunUsd]
  return caps.length === 0 ? undefined : Math.max(0, Math.min(...caps))
}

/** How long the run may still take; undefined if there is no such cap. */
export function leftMs(others: OthersSpent, capped: Capped): number | undefined {
  const left = treesOf(others, capped).flatMap(({ budget, ranMs }) =>
    budget.wallMs === undefined ? [] : [budget.wallMs - ranMs],
  )
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left))
}

/** Small sums matter to whoever has a small budget. */
export const dollars = (usd: number) => `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`
