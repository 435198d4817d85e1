import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { newId } from '../../domain/id.ts'
import { aloneMsOf } from '../../domain/task/suspect.ts'
import { type Admitted, admitTasks, type Candidate, findCandidates, lockAdmission, lookAround } from '../../store/admission.ts'
import { atOnce } from '../../store/at-once.ts'
import { endFutureWaits, nextWake, setProbes } from '../../store/cooldowns.ts'
import type { Db } from '../../store/database.ts'
import { endAlone, readTurn } from '../../store/suspects.ts'
import type { Bus } from '../journal/bus.ts'
import type { Journal } from '../journal/journal.ts'
import { putOffCooling, wakeDue } from '../tasks/limits/wake.ts'
import type { Dispatch } from './dispatch.ts'
import { whoMayStart } from './turns.ts'

/** Which task may run next, and how many at once. Woken by events; looks by itself at most once a second. */
export interface Admission {
  /** Admits what fits; answers how many. Calls while one is under way are served by one more round after it. */
  admit(): Promise<number>
  start(): void
  stop(): Promise<void>
}

export interface Limits {
  readonly running: number
  readonly perAgent: Readonly<Record<string, number>>
}

const lookEveryMs = 5_000
/** Waking tasks one by one, each a moment after the other, would be polling. */
const leastWaitMs = 250

export function createAdmission(options: {
  db: Db
  journal: Journal
  dispatch: Dispatch
  bus: Bus
  clock: Clock
  log: Log
  limits: Limits
  worker: string
  shared: boolean
  chance?: () => number
}): Admission {
  const { db, journal, dispatch, bus, clock, log, limits, shared, chance = Math.random } = options
  let running: Promise<number> | undefined
  let wanted = false
  let stopped = true
  let cancelTimer: (() => void) | undefined
  /** All slots were taken when we last looked; whoever frees one tells us. */
  let isFull = false
  /** The round before admitted something, so this one may well do so too and need not look first. */
  let isBusy = false

  // Asked anew each time: a worker that was declared dead is another one afterwards.
  const taker = () => ({ worker: options.worker, shared })
  const wakeParked = () =>
    journal.transact('task.wake', (tx, record) => wakeDue({ tx, record, at: new Date(clock.now()) }, taker(), chance))
  const putOff = () => journal.transact('task.put_off', (tx, record) => putOffCooling({ tx, record, at: new Date(clock.now()) }))

  /** What is wrong with tasks that wait must not keep the others from running. */
  const quietly = (work: () => Promise<unknown>) =>
    work().catch((error: unknown) => log.warn('tasks that wait for a limit will be looked at again', { error: String(error) }))

  /** A clock that was set back would make a backoff of seconds one of hours. */
  let lastNowMs = Number.POSITIVE_INFINITY
  const heedClock = async () => {
    const nowMs = clock.now()
    if (nowMs < lastNowMs) await endFutureWaits(db, new Date(nowMs))
    lastNowMs = nowMs
  }

  const round = async (): Promise<number> => {
    await heedClock()
    if (!isBusy) {
      const around = await lookAround(db, { ...taker(), running: limits.running, now: new Date(clock.now()) })
      isFull = around.isFull
      if (around.hasCooling || around.hasServing) await quietly(putOff)
      if (around.hasDue) await quietly(wakeParked)
      else if (isFull || !around.hasQueued) return 0
    }
    // Until the round is over nobody knows, also if it fails.
    isBusy = isFull = false
    const admitted = await journal.transact('task.admit', async (tx, record) => {
      const now = new Date(clock.now())
      const scope = { running: limits.running, perAgent: limits.perAgent, ...taker(), now }
      const [, others, turn] = await atOnce(tx, (one) => [
        lockAdmission(one),
        findCandidates(one, { ...scope, suspects: false }),
        readTurn(one, scope, now),
      ])
      const suspects = turn.hasSuspects && !turn.isAlone ? await findCandidates(tx, { ...scope, suspects: true }) : []
      const candidates = whoMayStart({ turn, others, suspect: suspects[0], nowMs: now.getTime() })
      const apart = firstOfEach(candidates)
      const within = oneProbeEach(withinSlots(apart))
      // Others may have what two wanted at once, or a user with too few slots, or an account that is being tried, could not take.
      if (within.length < candidates.length) wanted = true
      const fitting = within.map((task) => admission(task, clock.now()))
      if (fitting.length === 0) return []
      const [chosen] = await atOnce(tx, (one) => [
        admitTasks(one, fitting, { worker: options.worker, at: now }),
        dispatch.enqueue(
          one,
          fitting.map(({ run }) => run),
        ),
      ])
      if (turn.isBesideSuspect && chosen.length > 0) await endAlone(tx, scope)
      const probes = probesAmong(within, chosen)
      if (probes.length > 0) await setProbes(tx, probes)
      for (const { task, run, fence, attempt, agent } of chosen)
        record({ task, run, event: { type: 'run.admitted', data: { attempt, fence, agent } } })
      return chosen
    })
    isBusy = admitted.length > 0
    if (isBusy) bus.tell('dispatch')
    return admitted.length
  }

  const admit = async (): Promise<number> => {
    if (running) {
      wanted = true
      return running
    }
    running = (async () => {
      try {
        let total = 0
        do {
          wanted = false
          total += await round()
        } while (wanted && !stopped)
        return total
      } finally {
        // In the same moment in which nothing more was wanted: whoever comes a moment later begins anew.
        running = undefined
      }
    })()
    return running
  }

  const tick = () => {
    if (stopped) return
    // A queue that never rests must not keep parked tasks from waking.
    isBusy = false
    admit()
      .catch((error: unknown) => log.warn('admission will try again', { error: String(error) }))
      .then(planTick)
  }
  /** When the next parked task wakes, if that is soon. */
  const planTick = async () => {
    const wake = await nextWake(db, new Date(clock.now()), taker()).catch(() => undefined)
    if (stopped) return
    const untilWake = wake ? wake.getTime() - clock.now() + 1 : lookEveryMs
    cancelTimer?.()
    cancelTimer = clock.after(Math.max(Math.min(untilWake, lookEveryMs), leastWaitMs), tick)
  }
  const hear = () => {
    if (!stopped) admit().catch((error: unknown) => log.warn('admission will try again', { error: String(error) }))
  }
  const unsubscribes = [
    bus.on('admission', hear),
    bus.on('queued', () => isFull || hear()),
    bus.on('parked', () => void planTick()),
  ]

  return {
    admit,
    start() {
      stopped = false
      tick()
    },
    async stop() {
      stopped = true
      cancelTimer?.()
      for (const unsubscribe of unsubscribes) unsubscribe()
      await running?.catch(() => undefined)
    },
  }
}

function admission(task: Candidate, nowMs: number): Admitted {
  return {
    task: task.id,
    run: newId('run', nowMs),
    session: task.session_id,
    agent: task.agent,
    fence: task.fence + 1,
    attempt: task.attempts + 1,
    aloneMs: task.suspect && aloneMsOf(task.suspect),
  }
}

/** Candidates of several agents may want the same workspace or session: the better rank has it. */
function firstOfEach(candidates: readonly Candidate[]): Candidate[] {
  const workspaces = new Set<string>()
  const sessions = new Set<string>()
  return candidates.filter((task) => {
    if (workspaces.has(task.workspace) || sessions.has(task.session_id)) return false
    workspaces.add(task.workspace)
    sessions.add(task.session_id)
    return true
  })
}

/** Of a user with slots of their own no more than are free; the better ranks first. */
function withinSlots(candidates: readonly Candidate[]): Candidate[] {
  const taken = new Map<string, number>()
  return candidates.filter(({ user_name: user, user_free: free }) => {
    const count = (taken.get(user) ?? 0) + 1
    taken.set(user, count)
    return free === null || count <= free
  })
}

/** Of an account that nobody has seen work again, one task. */
function oneProbeEach(candidates: readonly Candidate[]): Candidate[] {
  const tried = new Set<string>()
  return candidates.filter(({ account, is_probe: isProbe }) => {
    const isFirst = !tried.has(account)
    if (isProbe) tried.add(account)
    return !isProbe || isFirst
  })
}

function probesAmong(candidates: readonly Candidate[], chosen: readonly Admitted[]): { account: string; run: string }[] {
  const accounts = new Map(candidates.filter((task) => task.is_probe).map((task) => [task.id, task.account]))
  return chosen.flatMap(({ task, run }) => {
    const account = accounts.get(task)
    return account === undefined ? [] : [{ account, run }]
  })
}
