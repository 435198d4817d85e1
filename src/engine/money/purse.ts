import type { Clock } from '../../clock.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { EventData } from '../../domain/event.ts'
import type { Cost } from '../../domain/money/prices.ts'
import { fp } from '../../failpoint.ts'
import { type CallFacts, OverCap, type Purse, type Reservation, type WorstCase } from '../../gateway/purse.ts'
import type { Route } from '../../gateway/route.ts'
import type { Log } from '../../log.ts'
import { type Db, isPassing } from '../../store/database.ts'
import type { Freed } from '../../store/events.ts'
import type { Booking } from '../../store/ledger.ts'
import { closeReservation, type Holder } from '../../store/reservations.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { Journal } from '../journal.ts'
import type { Voice } from '../run.ts'
import type { StopReason } from '../watch.ts'
import { type Decision, unitsAbove, unitsOf, usdOf } from './allowance.ts'
import type { Meter, Money } from './meter.ts'
import { bookingOf, calledData, usageOf, withSoundUsage } from './model-called.ts'
import { createPace } from './pace.ts'
import { createReserve, isLostNow } from './reserve.ts'
import { createRoutePrices } from './route-prices.ts'

export interface PurseParts {
  readonly taken: TakenRun
  readonly db: Db
  readonly journal: Pick<Journal, 'transact' | 'flush'>
  /** Stores what a call came to, with its line of the ledger. */
  readonly record: Voice['recordEvent']
  readonly clock: Clock
  readonly log: Log
  readonly money: Money
  /** Holds the caps that are no money by what the gateway counts. */
  readonly meter: Pick<Meter, 'called'>
  /** Called once, a moment after a call was refused because of a cap. */
  readonly onOver: (reason: StopReason) => void
}

export interface RunPurse extends Purse {
  /** After the model door is closed and before the run's last words are taken. Nothing is reserved any more; twice is fine. */
  close(): Promise<void>
}

/** How long what a call came to is kept back, so that a next call that follows at once finds its money still open. */
const keepBackMs = { slow: 20, quick: 60 }
/** The agent hears the refusal before it is stopped. */
const stopAfterMs = 100
const lookAgainMs = { first: 50, most: 1_000 }
/** What is kept open beyond the calls under way while there are any, as a part of them: what they cost is taken from it, and not every call asks for more. */
const slackPart = 4
/** How long after the last of calls that followed each other quickly what was kept open for more of them is given back. */
const quietMs = 250
/** Near a cap nothing is to be had for calls that are still to come; that is not asked all the time. */
const refillAgainMs = 1_000

interface Waiting {
  readonly call: WorstCase
  readonly units: number
  readonly granted: PromiseWithResolvers<Reservation>
}

interface Told {
  readonly data: EventData<'model.called'>
  readonly booking?: Booking
  readonly units: number
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

  /** Stored as open, but for what goes with entries that are on their way into the journal. */
  let open = 0
  /** The worst of all calls under way. */
  let underWay = 0
  const pace = createPace()
  /** What calls that are over came to, and nobody has been told yet. */
  let untold = 0
  let told: Told[] = []
  // Pacing of our own work, not a fact about time.
  let telling: NodeJS.Timeout | undefined
  let easing: NodeJS.Timeout | undefined
  let refilling: Promise<void> | undefined
  let refillAfter = 0
  let lastRoute: Route | undefined
  let lastEnd = 0
  const waiting: Waiting[] = []
  let pumping: Promise<void> | undefined
  let wake: (() => void) | undefined
  /** The database may hold more open for us than we know: it was lost while we asked. */
  let isUnsure = false
  let refused: PawlError | undefined
  let stopping: (() => void) | undefined
  let closing: Promise<void> | undefined

  const pricesOf = createRoutePrices(money.prices)
  const fits = (units: number) => untold + underWay + units <= open

  function admit({ call, units, granted }: Waiting): void {
    underWay += units
    pace.sees(underWay)
    lastRoute = call.route
    let isOver = false
    const finish = (told: CallFacts, isServed: boolean) => {
      if (isOver) return
      isOver = true
      void fp('money.settle')
      underWay -= units
      const facts = withSoundUsage(told)
      ended(facts, isServed ? costOf(facts, call, units) : undefined)
    }
    const { outputTokens } = call
    granted.resolve({ outputTokens, settle: (facts) => finish(facts, true), release: (facts) => finish(facts, false) })
  }

  function costOf(facts: CallFacts, { route, outputTokens, times = 1 }: WorstCase, units: number): Cost {
    if (!facts.usage)
      return { usd: null, countedUsd: Math.min(usdOf(units), times * mostOf(facts, outputTokens)), known: 'unknown' }
    const listed = pricesOf(route).cost(facts.usage)
    // How much dearer it really was nobody tells.
    const cost: Cost = times === 1 ? listed : { usd: null, countedUsd: listed.countedUsd * times, known: 'unknown' }
    if (unitsOf(cost.countedUsd) > units)
      log.warn('a call cost more than was reserved for it', {
        model: route.target,
        costUsd: cost.countedUsd,
        reservedUsd: usdOf(units),
        reason: 'dearer_than_reserved',
      })
    return cost
  }

  /** Of an answer that broke off, what went in is known; nobody knows how much was written. */
  function mostOf({ usageSoFar, route }: CallFacts, outputTokens: number): number {
    if (!usageSoFar) return Number.POSITIVE_INFINITY
    const most = { ...usageSoFar, outputTokens: Math.max(outputTokens, usageSoFar.outputTokens) }
    return pricesOf(route).cost(most).countedUsd
  }

  function ended(facts: CallFacts, cost: Cost | undefined): void {
    const units = cost ? unitsOf(cost.countedUsd) : 0
    untold += units
    lastEnd = clock.monotonic()
    told.push({ data: calledData(facts, cost), units, ...(cost ? { booking: bookingOf(holder, facts, cost) } : {}) })
    if (cost) meter.called(usageOf(facts), cost.countedUsd)
    if (closing) tell()
    else telling ??= setTimeout(tell, pace.isQuick ? keepBackMs.quick : keepBackMs.slow)
    wake?.()
  }

  /** Hands what calls came to to the journal. Each entry takes from what is open at least what it books; the last of them all that is no longer needed. */
  function tell(): void {
    clearTimeout(telling)
    telling = undefined
    if (told.length === 0) return
    const batch = told
    told = []
    const spent = untold
    untold = 0
    const spare = Math.max(0, open - underWay)
    pace.tells(
      batch.map(({ data, units }) => ({ durationMs: data.durationMs, units })),
      underWay,
    )
    const slack = waiting.length > 0 ? spare : Math.max(Math.ceil(underWay / slackPart), pace.wanted)
    let frees = Math.max(Math.min(spent, spare), spare - slack)
    open -= frees
    for (const [index, { data, booking, units }] of batch.entries()) {
      const part = index === batch.length - 1 ? frees : Math.min(units, frees)
      frees -= part
      const freed: Freed = { usd: usdOf(units), openUsd: usdOf(part) }
      void parts.record({ type: 'model.called', data }, booking, freed)
    }
    if (closing || !pace.isQuick) return
    easing ??= setTimeout(ease, quietMs)
    if (pace.isLow(open - underWay)) refill()
  }

  /** Asks for what is kept open before calls have to wait for it. */
  function refill(): void {
    if (refilling || pumping || refused || !lastRoute || clock.monotonic() < refillAfter) return
    const slack = pace.wanted - (open - underWay - untold)
    refilling = reserve({ least: 0, most: 0, slack, call: 0, model: lastRoute.target }, lastRoute)
      .then((decision) => {
        const got = decision.kind === 'granted' ? decision.open : 0
        open += got
        if (got < slack) refillAfter = clock.monotonic() + refillAgainMs
      })
      .catch((error: unknown) => void failed(error))
      .finally(() => {
        refilling = undefined
      })
  }

  function ease(): void {
    easing = undefined
    if (closing) return
    if (clock.monotonic() - lastEnd < quietMs) easing = setTimeout(ease, quietMs)
    else {
      pace.rest()
      giveBackSpare().catch((error: unknown) => void failed(error))
    }
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
    return { call: shorter, units: worstUnits(shorter), granted }
  }

  const worstUnits = (call: WorstCase) => unitsAbove(pricesOf(call.route).worst(call).countedUsd * (call.times ?? 1))

  async function raise(first: Waiting): Promise<Decision> {
    const needs = untold + underWay - open
    const all = waiting.reduce((sum, { units }) => sum + units, 0)
    const most = needs + all
    const slack = Math.max(Math.ceil((underWay + all) / slackPart), pace.wanted)
    const { route } = first.call
    const decision = await reserve({ least: needs + first.units, most, slack, call: first.units, model: route.target }, route)
    if (decision.kind === 'granted') open += decision.open
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
    const spare = open - underWay - untold
    if (spare <= 0) return
    open -= spare
    await closeReservation(db, run.id, usdOf(spare))
  }

  async function closeNow(): Promise<void> {
    wake?.()
    clearTimeout(easing)
    await pumping
    await refilling
    tell()
    stopping?.()
    if (open === underWay && !isUnsure) return
    try {
      // What is on its way covers itself with what is open until it is stored.
      await journal.flush()
      await closeReservation(db, run.id, isUnsure && underWay === 0 ? Number.MAX_SAFE_INTEGER : usdOf(open - underWay))
      open = underWay
    } catch (error) {
      log.warn('what a run held for calls is given back when the run is settled', { error: messageOf(error) })
    }
  }

  return {
    async reserve(call) {
      if (refused) throw refused
      if (closing) throw isOverNow
      const asked: Waiting = { call, units: worstUnits(call), granted: Promise.withResolvers() }
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

const isOverNow = new PawlError('unavailable', 'This run is over; nothing more is asked of models for it.')
const isUnreserved = new PawlError('internal', 'Pawl could not reserve the money for this call; its log has the details.')
