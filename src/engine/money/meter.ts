import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { elapsed } from '../../domain/base/elapsed.ts'
import type { EventData } from '../../domain/event/event.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import type { Prices } from '../../domain/money/prices.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { Db } from '../../store/database.ts'
import { type Booking, spentOfTrees, spentSince } from '../../store/ledger.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { StopReason } from '../base/watch.ts'
import { type Capped, leftMs, leftUsd, type OthersSpent, overCap, type SharedCaps } from './caps.ts'
import { periodStarts } from './day.ts'
import type { FirstCalls } from './first-calls.ts'
import { isSoundCost, soundUsage } from './sound-figures.ts'

/** What a daemon knows of money. */
export interface Money {
  readonly prices: Prices
  readonly caps: SharedCaps
  /** Undefined: nothing is held for a run before it calls a model. */
  readonly firstCalls?: FirstCalls | undefined
}

/** Counts what one run spends, and says when it must stop. */
export interface Meter {
  /** Asks what others have spent, where anybody can have. Answers why the run may not even begin, if it may not. */
  begin(): Promise<StopReason | undefined>
  /** Prices what was used. The line for the ledger goes where the event goes. */
  take(used: EventData<'agent.usage'>): { readonly data: EventData<'agent.usage'>; readonly booking: Booking }
  /** Counts a call that the gateway has served. From the first on, what the program tells of itself counts no more. */
  called(usage: Usage, countedUsd: number): void
  /** A program that tells no usage takes turns all the same. */
  turned(): void
  /** What the run has used so far; undefined if nothing was told. */
  readonly usage: Usage | undefined
  /** For programs that can hold themselves to it. */
  readonly leftUsd: number | undefined
  close(): void
}

export function createMeter(options: {
  taken: TakenRun
  db: Db
  clock: Clock
  log: Log
  money: Money
  onOver: (reason: StopReason) => void
}): Meter {
  const { db, clock, log, money, onOver } = options
  const { run, task } = options.taken
  const { agent_config: agent } = task
  const capped: Capped = { task: task.id, agent: task.agent, user: task.user_name, budget: agent.budget, shared: money.caps }
  let others: OthersSpent = { trees: [] }
  let usage = noUsage
  let countedUsd = 0
  let isTold = false
  let asking: Promise<void> | undefined
  let askAgain = false
  let cancelTimer: (() => void) | undefined
  let isClosed = false

  const hasSharedCaps =
    agent.budget.perAgentDayUsd !== undefined ||
    [money.caps.dayUsd, money.caps.monthUsd, money.caps.userDayUsd].some((cap) => cap !== undefined)
  /** On its first run a task alone has spent nothing yet. */
  const mayHaveSpent = run.fence > 1 || task.parent_id !== null

  const hasOtherCaps = () =>
    [agent.budget, ...others.trees.map((tree) => tree.budget)].some(
      ({ tokens, turns }) => tokens !== undefined || turns !== undefined,
    )

  const ask = async (): Promise<void> => {
    const now = new Date(clock.now())
    const starts = periodStarts(now.getTime(), money.caps.timeZone)
    const { monthUsd } = money.caps
    const but = { run: run.id, agent: task.agent, user: task.user_name }
    const [trees, day, month] = await Promise.all([
      spentOfTrees(db, task.id, run.id, now),
      hasSharedCaps ? spentSince(db, starts.day, but) : undefined,
      monthUsd === undefined ? undefined : spentSince(db, starts.month, but),
    ])
    others = { trees, day, month }
  }
  const judge = () => {
    const over = isClosed ? undefined : overCap({ countedUsd, usage }, others, capped)
    if (over) onOver(over)
  }
  /** What others spend meanwhile counts too: subtasks, and everybody under a cap of the day. One question at a time. */
  const look = () => {
    if (asking) {
      askAgain = true
      return
    }
    asking = ask()
      .then(judge)
      .catch((error: unknown) => log.warn('what others have spent will be asked again', { error: String(error) }))
      .finally(() => {
        asking = undefined
        if (askAgain && !isClosed) {
          askAgain = false
          look()
        }
      })
  }

  return {
    async begin() {
      if (mayHaveSpent || hasSharedCaps) await ask()
      const over = overCap({ countedUsd, usage }, others, capped)
      if (over) return over
      const mayTakeMs = leftMs(others, capped)
      if (mayTakeMs === undefined) return undefined
      const message = `The task has run for as long as all its runs together may take (budget.wallMs${agent.budget.wallMs === undefined ? '' : `: ${elapsed(agent.budget.wallMs)}`}). Go on with more time: pawl task retry ${task.id} --budget-time 1h`
      const reason: StopReason = { kind: 'over_budget', message }
      if (mayTakeMs === 0) return reason
      cancelTimer = clock.after(Math.min(mayTakeMs, 2_000_000_000), () => onOver(reason))
      return undefined
    },
    take(told) {
      // One figure that cannot be must not keep the others from being booked; the end of the run says which was left out.
      const isSound = told.costUsd === undefined || isSoundCost(told.costUsd)
      const used = { ...told, usage: soundUsage(told.usage), costUsd: isSound ? told.costUsd : undefined }
      const model = used.model ?? agent.model
      const cost = money.prices.cost(model, used.usage, used.costUsd)
      isTold = true
      usage = addUsage(usage, used.usage)
      countedUsd += cost.countedUsd
      judge()
      look()
      const data = {
        usage: used.usage,
        ...(model === undefined ? {} : { model }),
        ...(cost.usd === null ? {} : { costUsd: cost.usd }),
        known: cost.known,
      }
      const booking: Booking = {
        ...used.usage,
        rootId: task.root_id,
        agent: task.agent,
        account: task.account,
        user: task.user_name,
        model: model ?? null,
        costUsd: cost.usd,
        countedUsd: cost.countedUsd,
        known: cost.known,
      }
      return { data, booking }
    },
    called(used, usd) {
      isTold = true
      usage = addUsage(usage, used)
      countedUsd += usd
      judge()
      // Money is held by the purse, before it is spent.
      if (hasOtherCaps()) look()
    },
    turned() {
      if (isTold) return
      usage = { ...usage, turns: usage.turns + 1 }
      judge()
    },
    get usage() {
      return isTold ? usage : undefined
    },
    get leftUsd() {
      return leftUsd(others, capped)
    },
    close() {
      isClosed = true
      cancelTimer?.()
    },
  }
}
