import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { atOnce } from '../../store/at-once.ts'
import type { Database } from '../../store/database.ts'
import { leaseRuns, loadTaken, type TakenRun } from '../../store/runs.ts'
import { withdrawDeath } from '../../store/suspects.ts'
import { findTask } from '../../store/tasks.ts'
import { type OpenRun, registerWorker, runsOfWorker, type WorkerIdentity } from '../../store/workers.ts'
import type { Beater } from '../beat/beater.ts'
import type { Bus } from '../journal/bus.ts'
import type { Journal } from '../journal/journal.ts'
import { type LiveRun, type RunParts, startRun } from '../run/run.ts'
import type { Dispatch } from './dispatch.ts'

/** Takes runs, holds their leases by beating, and ends them when it may not hold them any more. */
export interface Worker {
  readonly live: ReadonlyMap<string, LiveRun>
  /** Takes waiting runs while there are free slots. */
  take(): Promise<void>
  start(): Promise<void>
  /** Ends all runs, which go back to the queue without costing a try, and gives everything back. */
  stop(): Promise<void>
}

export const beatEveryMs = 5_000
const beatAgainMs = 500
/** Before a thread that is held up could miss a beat, and after most processes that run one task are done with it. */
const goAloneAfterMs = 2_000
/** Others may start our runs again after 15 s without a beat; we stop them well before. */
export const giveUpAfterMs = 10_000
/** A timer of one second that comes this late means that nobody here was awake. */
const sleptMs = 3_000
const confirmWithinMs = 2_000
const lookEveryMs = 5_000
/** A run that ends makes room, and what is admitted into it is told at once: only if no such word comes may others have been admitted before. */
const waitForWordMs = 20

export function createWorker(options: {
  identity: WorkerIdentity
  /** How many runs at once; asked anew each time. */
  slots: () => number
  database: Database
  beater: Beater
  dispatch: Dispatch
  journal: Journal
  bus: Bus
  clock: Clock
  log: Log
  run: RunParts
  /** Gives back what this worker still holds and ends its entry. */
  leave: () => Promise<unknown>
  /** Ends one run of this worker as lost, so that its task may run again. The worker lives, so the task is no suspect. */
  giveBack: (run: OpenRun, why: string) => Promise<unknown>
  /** Called when all runs have ended after others have declared this worker dead. True: `identity` has a new id, under which it registers again. */
  onDisowned: () => Promise<boolean>
}): Worker {
  const { identity, slots, database, beater, dispatch, journal, bus, clock, log } = options
  const live = new Map<string, LiveRun>()
  let stopped = true
  let confirmedAt = clock.monotonic()
  let taking: Promise<void> | undefined
  let takeAgain = false
  const cancels = new Set<() => void>()

  const later = (ms: number, fn: () => void) => {
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel)
      if (!stopped) fn()
    })
    cancels.add(cancel)
  }

  const beatOnce = async () => {
    if (isDisowned) return startAnew()
    const sentAt = clock.monotonic()
    await fp('heartbeat.before')
    const held = await beater.beat(identity.id, live.size > 0)
    await fp('heartbeat.after')
    if (held === undefined) {
      isDisowned = true
      startAnew()
      return
    }
    // Counted from before the question was sent: the answer may have been on its way while we slept.
    confirmedAt = sentAt
    if (isConfirmed()) letGo()
    if (held.runs.some((id) => !live.has(id))) {
      mayHoldStrays = true
      takeQuietly()
    }
    const ours = new Set(held.runs)
    for (const run of live.values())
      if (leased.has(run.id) && !ours.has(run.id) && leased.get(run.id)! < sentAt) run.stop({ kind: 'lease_lost' })
    // The word of a cancel may not have reached us.
    for (const task of held.cancelled) await checkCancel(task)
  }
  // While this thread was held up, the beater may have gone on without us.
  const isConfirmed = () => Math.min(clock.monotonic() - confirmedAt, beater.confirmedAgoMs()) <= giveUpAfterMs
  const holdAll = () => {
    if (isHolding || live.size === 0) return
    isHolding = true
    log.warn('no confirmed beat for too long; agents stand still until the database answers', {
      runs: live.size,
      reason: 'self_fence',
    })
    for (const run of live.values()) run.hold()
  }
  const letGo = () => {
    if (!isHolding) return
    isHolding = false
    log.info('the database has confirmed the leases; agents go on', { runs: live.size })
    for (const run of live.values()) run.letGo()
  }
  let isHolding = false

  /** Others have declared this worker dead and taken its runs. What of them lives here ends, and then it is a new worker. */
  const startAnew = () => {
    starting ??= (async () => {
      log.error('others have declared this worker dead; it ends its agents and registers again', { reason: 'disowned' })
      // A lease that is being taken under the old id is given back by whoever looks.
      await taking?.catch(() => undefined)
      for (const run of live.values()) run.stop({ kind: 'lease_lost' })
      await Promise.all([...live.values()].map((run) => run.done))
      await withdrawDeath(database.db, identity.id)
      if (stopped || !(await options.onDisowned())) return
      await registerWorker(database.db, identity, new Date(clock.now()))
      confirmedAt = clock.monotonic()
      isDisowned = isHolding = mayHoldStrays = false
      log.info('this worker takes runs again', { worker: identity.id })
      takeQuietly()
    })()
      .catch((error: unknown) => log.warn('this worker will register later', { error: String(error) }))
      .finally(() => {
        starting = undefined
      })
  }
  let starting: Promise<void> | undefined
  let isDisowned = false

  /** When each lease was taken: an answer older than the lease cannot speak of it. */
  const leased = new Map<string, number>()

  const beating = () => {
    beatOnce().then(
      // An answer that was long on its way says too little about now.
      () => later(isDisowned || isConfirmed() ? beatEveryMs : beatAgainMs, beating),
      (error: unknown) => {
        log.warn('a beat was missed', { error: String(error) })
        // Waiting the whole time again would leave nothing of the time after which we must give up.
        later(beatAgainMs, beating)
      },
    )
  }
  let lookedAt = clock.monotonic()
  const selfFencing = async () => {
    // We were stopped or asleep ourselves: ask whether the runs are still ours before we judge by a time that passed without us.
    for (let mostMs = sleptMs; clock.monotonic() - lookedAt > mostMs; mostMs = sleptMs + confirmWithinMs) {
      lookedAt = clock.monotonic()
      await Promise.race([beatOnce().catch(() => undefined), new Promise((done) => setTimeout(done, confirmWithinMs))])
      // Asleep once more while we asked: the answer is about the time before.
    }
    lookedAt = clock.monotonic()
    if (!isConfirmed()) holdAll()
    else if (!isDisowned) letGo()
    later(1_000, () => void selfFencing())
  }

  /**
   * Leases of ours that no run of ours stands behind: the database went away between a claim and its start, or for so long that we gave the run up. Nobody else
   * may touch them while we live. Called by `takeOnce` only, which alone takes leases, so what is not live then never will be.
   */
  const giveStraysBack = async () => {
    for (const open of await runsOfWorker(database.db, identity.id)) {
      if (live.has(open.run_id)) continue
      log.warn('a run that was never started here, or was given up, goes back', {
        task: open.task_id,
        run: open.run_id,
        reason: 'stray_lease',
      })
      await options.giveBack(open, 'The database was away while this run was in hand.')
    }
    mayHoldStrays = false
  }
  let mayHoldStrays = false
  /** Runs may be waiting that there was no free slot for. */
  let mayWait = false

  const takeOnce = async () => {
    if (isDisowned) return
    if (mayHoldStrays) await giveStraysBack()
    const free = slots() - live.size
    mayWait = free <= 0
    if (free <= 0 || stopped) return
    // Until the runs are started, an error leaves it open whether the leases were stored.
    mayHoldStrays = true
    cancelsHeard.clear()
    const taken = await database.db.transaction().execute(async (tx) => {
      const { runs, spendAndCommit } = await dispatch.take(tx, free)
      mayWait = runs.length === free
      if (runs.length === 0) return []
      await fp('claim.before')
      const [leases, found] = await atOnce(tx, (one) => [
        leaseRuns(one, runs, { worker: identity.id, at: new Date(clock.now()) }),
        loadTaken(one, runs),
        spendAndCommit(one),
      ])
      // Tokens of runs that were cancelled before they were admitted fill no slot: there may be better ones behind them.
      if (mayWait && leases.length < runs.length) takeAgain = true
      return found.filter(({ run }) => leases.includes(run.id))
    })
    if (taken.length > 0 && !isDisowned) await start(taken)
    mayHoldStrays = false
  }

  const start = async (all: readonly TakenRun[]) => {
    await fp('claim.after')
    if (live.size === 0) later(goAloneAfterMs, () => live.size > 0 && beater.goAlone(identity.id))
    for (const taken of all) {
      const run = startRun(taken, options.run)
      live.set(run.id, run)
      if (isHolding) run.hold()
      leased.set(run.id, clock.monotonic())
      void run.done.then(() => {
        live.delete(run.id)
        leased.delete(run.id)
        // The settlement has told admission; runs that were admitted while all slots were taken are known only here.
        if (mayWait && takeWhatWaits === undefined) takeWhatWaits = setTimeout(lookForWaiting, waitForWordMs)
      })
      if (taken.task.cancel) run.stop({ kind: 'cancelled', now: taken.task.cancel === 'now' })
    }
    for (const task of cancelsHeard) await checkCancel(task)
  }
  /** Tasks that were cancelled while their runs were being taken: what was read of them then may not say so. */
  const cancelsHeard = new Set<string>()

  // Pacing of our own work: real timers, whatever clock the rest goes by.
  let takeWhatWaits: NodeJS.Timeout | undefined
  const lookForWaiting = () => {
    takeWhatWaits = undefined
    // Whoever took meanwhile knows better.
    if (mayWait && !stopped) takeQuietly()
  }

  const take = async (): Promise<void> => {
    if (taking) {
      takeAgain = true
      return taking
    }
    taking = (async () => {
      try {
        do {
          takeAgain = false
          await takeOnce()
        } while (takeAgain && !stopped)
      } finally {
        // In the same moment in which nothing more was wanted: whoever comes a moment later begins anew.
        taking = undefined
      }
    })()
    return taking
  }
  const takeQuietly = () =>
    void take().catch((error: unknown) => log.warn('taking runs will be tried again', { error: String(error) }))
  const looking = () => {
    takeQuietly()
    later(lookEveryMs, looking)
  }

  const checkCancel = async (taskId: string) => {
    if (taking) cancelsHeard.add(taskId)
    for (const run of live.values()) {
      if (taskId !== '*' && run.taskId !== taskId) continue
      const task = await findTask(database.db, run.taskId)
      if (task?.cancel) run.stop({ kind: 'cancelled', now: task.cancel === 'now' })
    }
  }
  const unsubscribes: (() => void)[] = []

  return {
    live,
    take,
    async start() {
      await registerWorker(database.db, identity, new Date(clock.now()))
      confirmedAt = clock.monotonic()
      stopped = false
      unsubscribes.push(
        bus.on('dispatch', takeQuietly),
        bus.on(
          'cancel',
          (task) =>
            void checkCancel(task).catch((error: unknown) => log.warn('a cancel will be seen later', { error: String(error) })),
        ),
      )
      later(beatEveryMs, beating)
      lookedAt = clock.monotonic()
      later(1_000, () => void selfFencing())
      looking()
    },
    async stop() {
      if (stopped) return
      stopped = true
      for (const unsubscribe of unsubscribes) unsubscribe()
      clearTimeout(takeWhatWaits)
      await taking?.catch(() => undefined)
      await starting
      await fp('shutdown.drain')
      for (const run of live.values()) run.stop({ kind: 'interrupted' })
      const keepBeating = setInterval(() => void beatOnce().catch(() => undefined), beatEveryMs)
      await Promise.all([...live.values()].map((run) => run.done))
      clearInterval(keepBeating)
      for (const cancel of cancels) cancel()
      await journal.flush()
      await beater.close()
      await options.leave()
    },
  }
}
