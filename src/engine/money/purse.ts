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
import { createReserve, isLostNow } from './reserve.ts'

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
const keepBackMs = 20
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
  /** What calls that are over came to, and nobody has been told yet. */
  let untold = 0
  let told: Told[] = []
  // Pacing of our own work, not a fact about time.
  let telling: NodeJS.Timeout | undefined
  const waiting: Waiting[] = []
  let pumping: Promise<void> | undefined
  let wake: (() => void) | undefined
  /** The database may hold more open for us than we know: it was lost while we asked. */
  let isUnsure = false
  let refused: PawlError | undefined
  let stopping: (() => void) | undefined
  let closing: Promise<void> | undefined

  const priceName = ({ target, model }: Route) => (money.prices.of(target) ? target : model)
  const fits = (units: number) => untold + underWay + units <= open

  function admit({ call, units, granted }: Waiting): void {
    underWay += units
    let isOver = false
    const finish = (told: CallFacts, isServed: boolean) => {
      if (isOver) return
      isOver = true
      void fp('money.settle')
      underWay -= units
      const facts = withSoundUsage(told)
      ended(facts, isServed ? costOf(facts, call, units) : undefined)
    }
    granted.resolve({ settle: (facts) => finish(facts, true), release: (facts) => finish(facts, false) })
  }

  function costOf(facts: CallFacts, { route, outputTokens }: WorstCase, units: number): Cost {
    if (!facts.usage) return { usd: null, countedUsd: Math.min(usdOf(units), mostOf(facts, outputTokens)), known: 'unknown' }
    const cost = money.prices.cost(priceName(route), facts.usage)
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
    return money.prices.cost(priceName(route), most).countedUsd
  }

  function ended(facts: CallFacts, cost: Cost | undefined): void {
    const units = cost ? unitsOf(cost.countedUsd) : 0
    untold += units
    told.push({ data: calledData(facts, cost), units, ...(cost ? { booking: bookingOf(holder, facts, cost) } : {}) })
    if (cost) meter.called(usageOf(facts), cost.countedUsd)
    if (closing) tell()
    else telling ??= setTimeout(tell, keepBackMs)
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
    const slack = waiting.length > 0 ? spare : Math.ceil(underWay / slackPart)
    let frees = Math.max(Math.min(spent, spare), spare - slack)
    open -= frees
    for (const [index, { data, booking, units }] of batch.entries()) {
      const part = index === batch.length - 1 ? frees : Math.min(units, frees)
      frees -= part
      const freed: Freed = { usd: usdOf(units), openUsd: usdOf(part) }
      void parts.record({ type: 'model.called', data }, booking, freed)
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
      if (decision.kind === 'over') refuse(decision.message)
      else if (decision.kind === 'granted') delayMs = lookAgainMs.first
      else {
        await giveBackSpare().catch((error: unknown) => failed(error))
        await nextChange(delayMs)
        delayMs = Math.min(delayMs * 2, lookAgainMs.most)
      }
    }
  }

  async function raise(first: Waiting): Promise<Decision> {
    const needs = untold + underWay - open
    const all = waiting.reduce((sum, { units }) => sum + units, 0)
    const most = needs + all + Math.ceil((underWay + all) / slackPart)
    const { route } = first.call
    const decision = await reserve({ least: needs + first.units, most, call: first.units, model: route.target }, route)
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
    await pumping
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
      const { countedUsd } = money.prices.worst(priceName(call.route), call)
      const asked: Waiting = { call, units: unitsAbove(countedUsd), granted: Promise.withResolvers() }
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
