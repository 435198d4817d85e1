import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { recordedName } from '../../domain/agent/models.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { Route } from '../../gateway/base/route.ts'
import { type CallFacts, OverCap, type Purse, type Reservation, type WorstCase } from '../../gateway/money/purse.ts'
import { type Db, isPassing } from '../../store/database.ts'
import { closeReservation, type Holder } from '../../store/reservations.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { RunContext } from '../base/run-context.ts'
import type { StopReason } from '../base/watch.ts'
import type { Journal } from '../journal/journal.ts'
import { type Decision, usdOf } from './allowance.ts'
import { createCallCost } from './call-cost.ts'
import type { FirstCall } from './first-calls.ts'
import { createKeptAhead } from './kept-ahead.ts'
import type { Meter, Money } from './meter.ts'
import { usageOf, withSoundUsage } from './model-called.ts'
import { createPace } from './pace.ts'
import { createReserve, isLostNow } from './reserve.ts'
import { createTelling } from './telling.ts'
import { spareIn, type Till } from './till.ts'

export interface PurseParts {
  readonly taken: TakenRun
  readonly db: Db
  readonly journal: Pick<Journal, 'transact' | 'flush'>
  /** Stores what a call came to, with its line of the ledger. */
  readonly record: RunContext['recordEvent']
  readonly clock: Clock
  readonly log: Log
  readonly money: Money
  /** Holds the caps that are no money by what the gateway counts. */
  readonly meter: Pick<Meter, 'called'>
  /** Called once, a moment after a call was refused because of a cap. */
  readonly onOver: (reason: StopReason) => void
}

export interface RunPurse extends Purse {
  /** While the program starts: holds what its first call will need, as far as that can be known, so that it need not be decided then. */
  expect(): void
  /** After the model door is closed and before the run's last words are taken. Nothing is reserved any more; twice is fine. */
  close(): Promise<void>
}

/** The agent hears the refusal before it is stopped. */
const stopAfterMs = 100
const lookAgainMs = { first: 50, most: 1_000 }
/** What is kept open beyond the calls under way while there are any, as a part of them: what they cost is taken from it, and not every call asks for more. */
const slackPart = 4

interface Waiting {
  readonly call: WorstCase
  readonly units: number
  readonly granted: PromiseWithResolvers<Reservation>
}

/**
 * The money of one run. What may be under way is stored as open before it leaves; what a call came to is stored with its line of the ledger and taken from
 * what is open in the same statement. So at every moment what is booked and what is open is no less than what was spent, and with what is held ahead no more than any cap.
 */
export function createPurse(parts: PurseParts): RunPurse {
  const { db, journal, clock, log, money, meter } = parts
  const { run, task } = parts.taken
  const holder: Holder = {
    run: run.id,
    task: task.id,
    rootId: task.root_id,
    agent: task.agent,
    account: task.account,
    user: task.user_name,
    fence: run.fence,
  }
  const reserve = createReserve({ ...parts, holder, budget: task.agent_config.budget })

  const till: Till = { open: 0, underWay: 0, untold: 0 }
  const pace = createPace()
  const costs = createCallCost(money.prices, log)
  let lastRoute: Route | undefined
  const waiting: Waiting[] = []
  let pumping: Promise<void> | undefined
  let wake: (() => void) | undefined
  /** The database may hold more open for us than we know: it was lost while we asked. */
  let isUnsure = false
  let refused: PawlError | undefined
  let stopping: (() => void) | undefined
  let closing: Promise<void> | undefined
  const caller = { agent: task.agent, model: task.agent_config.model }
  let isFirst = true
  let expecting: Promise<unknown> | undefined

  const fits = (units: number) => till.untold + till.underWay + units <= till.open
  const slackFor = (units: number) => Math.max(Math.ceil(units / slackPart), pace.wanted)

  const ahead = createKeptAhead({
    ...{ till, pace, clock },
    giveBack: giveBackSpare,
    onError: (error) => void failed(error),
    ask(slack) {
      if (pumping || refused || !lastRoute) return undefined
      return reserve({ least: 0, most: 0, slack, call: 0, model: lastRoute.target }, lastRoute).then((decision) =>
        decision.kind === 'granted' ? decision.open : 0,
      )
    },
  })
  const telling = createTelling({
    ...{ till, pace, holder, clock, record: parts.record },
    // Whoever waits needs all there is.
    slack: () => (waiting.length > 0 ? Number.POSITIVE_INFINITY : slackFor(till.underWay)),
    onTold: ahead.told,
  })

  function admit({ call, units, granted }: Waiting): void {
    till.underWay += units
    pace.sees(till.underWay)
    lastRoute = call.route
    let isOver = false
    const finish = (told: CallFacts, isServed: boolean) => {
      if (isOver) return
      isOver = true
      void fp('money.settle')
      till.underWay -= units
      const facts = withSoundUsage({ ...told, asked: recordedName(task.agent_config.model, told.asked) })
      const cost = isServed ? costs.of(facts, call, units) : undefined
      ahead.ended()
      telling.add(facts, cost)
      if (cost) meter.called(usageOf(facts), cost.countedUsd)
      wake?.()
    }
    const { outputTokens } = call
    granted.resolve({ outputTokens, settle: (facts) => finish(facts, true), release: (facts) => finish(facts, false) })
  }

  function pump(): void {
    pumping ??= serveWaiting().finally(() => {
      pumping = undefined
      if (waiting.length > 0) pump()
    })
  }

  async function serveWaiting(): Promise<void> {
    for (let delayMs = lookAgainMs.first; waiting.length > 0; ) {
      const [first] = waiting
      if (!first) return
      if (refused || closing) {
        for (const { granted } of waiting.splice(0)) granted.reject(refused ?? isOverNow)
        return
      }
      if (fits(first.units)) {
        waiting.shift()
        admit(first)
        continue
      }
      const decision = await raise(first).catch((error: unknown) => failed(error))
      // An agent asks for more than it uses: what is left is used up by shorter answers before it is over.
      if (decision.kind === 'over') {
        const smaller = shortened(first)
        if (smaller) waiting[0] = smaller
        else refuse(decision.message)
      } else if (decision.kind === 'granted') delayMs = lookAgainMs.first
      else {
        await giveBackSpare().catch((error: unknown) => failed(error))
        await nextChange(delayMs)
        delayMs = Math.min(delayMs * 2, lookAgainMs.most)
      }
    }
  }

  /** The same call with a shorter answer, where that is allowed. */
  function shortened({ call, granted }: Waiting): Waiting | undefined {
    const { outputTokens, leastOutputTokens = outputTokens } = call
    if (outputTokens <= leastOutputTokens) return undefined
    const shorter = { ...call, outputTokens: Math.max(leastOutputTokens, Math.floor(outputTokens / 2)) }
    return { call: shorter, units: costs.worst(shorter), granted }
  }

  async function raise(first: Waiting): Promise<Decision> {
    const needs = -spareIn(till)
    const all = waiting.reduce((sum, { units }) => sum + units, 0)
    const most = needs + all
    const slack = slackFor(till.underWay + all)
    const { route } = first.call
    const decision = await reserve({ least: needs + first.units, most, slack, call: first.units, model: route.target }, route)
    if (decision.kind === 'granted') till.open += decision.open
    return decision
  }

  /** While the database is away calls wait for it, like everything else that must be stored first. */
  function failed(error: unknown): Decision {
    if (isPassing(error)) {
      isUnsure = true
      log.warn('calls of models wait for the database', { error: messageOf(error) })
      return { kind: 'wait' }
    }
    if (error === isLostNow) refused = isLostNow
    else {
      log.error('money could not be reserved', { error: messageOf(error) })
      for (const { granted } of waiting.splice(0)) granted.reject(isUnreserved)
    }
    return { kind: 'wait' }
  }

  function refuse(message: string): void {
    refused = new OverCap(message)
    const reason: StopReason = { kind: 'over_budget', message }
    const stop = () => {
      stopping = undefined
      cancel()
      parts.onOver(reason)
    }
    const cancel = clock.after(stopAfterMs, stop)
    stopping = stop
  }

  /** A call of our own that ends may make room; calls of others are only seen by looking. */
  async function nextChange(delayMs: number): Promise<void> {
    if (refused || closing || waiting.length === 0) return
    const changed = Promise.withResolvers<void>()
    wake = changed.resolve
    const cancel = clock.after(delayMs, changed.resolve)
    await changed.promise
    cancel()
    wake = undefined
  }

  /** Two runs that wait for each other must not each hold a part of what one of them needs. */
  async function giveBackSpare(): Promise<void> {
    const spare = spareIn(till)
    if (spare <= 0) return
    till.open -= spare
    await closeReservation(db, run.id, usdOf(spare))
  }

  async function closeNow(): Promise<void> {
    wake?.()
    const quiet = ahead.stop()
    await expecting
    await pumping
    await quiet
    telling.close()
    stopping?.()
    if (till.open === till.underWay && !isUnsure) return
    try {
      // What is on its way covers itself with what is open until it is stored.
      await journal.flush()
      await closeReservation(
        db,
        run.id,
        isUnsure && till.underWay === 0 ? Number.MAX_SAFE_INTEGER : usdOf(till.open - till.underWay),
      )
      till.open = till.underWay
    } catch (error) {
      log.warn('what a run held for calls is given back when the run is settled', { error: messageOf(error) })
    }
  }

  return {
    expect() {
      const first = money.firstCalls?.of(caller)
      if (!first || first.units === 0 || expecting || closing || !isFirst) return
      const { units, route } = first
      const wish = { least: 0, most: 0, slack: 0, expected: units + slackFor(units), call: 0, model: route.target }
      // What fails here is told by the call that needs it.
      expecting = reserve(wish, route).catch(() => undefined)
    },
    async reserve(call) {
      if (refused) throw refused
      if (closing) throw isOverNow
      const asked: Waiting = { call, units: costs.worst(call), granted: Promise.withResolvers() }
      if (isFirst) money.firstCalls?.was(caller, firstCall(asked))
      isFirst = false
      if (waiting.length === 0 && fits(asked.units)) admit(asked)
      else {
        waiting.push(asked)
        pump()
      }
      const reservation = await asked.granted.promise
      await fp('money.reserved')
      return reservation
    },
    close() {
      closing ??= closeNow()
      return closing
    },
  }
}

/** Without the keys that go with a route. */
const firstCall = ({ units, call: { route } }: Waiting): FirstCall => ({
  units,
  route: { target: route.target, provider: { name: route.provider.name } },
})

const isOverNow = new PawlError('unavailable', 'This run is over; nothing more is asked of models for it.')
const isUnreserved = new PawlError('internal', 'Pawl could not reserve the money for this call; its log has the details.')
