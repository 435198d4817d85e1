import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { isAlive } from '../../sandbox/process/identity.ts'
import { endKillUnit } from '../../sandbox/process/tree.ts'
import type { Db } from '../../store/database.ts'
import { bookOrphans } from '../../store/reservations.ts'
import type { WorkerRow } from '../../store/tables.ts'
import { findTask, unbindTasks } from '../../store/tasks.ts'
import { endWorker, livingWorkers, type OpenRun, orphanedWorkers, runsOfWorker, strandedRuns } from '../../store/workers.ts'
import type { WorkerDeath } from '../base/suspicion.ts'
import type { Bus } from '../journal/bus.ts'
import type { Settler } from '../run/settle.ts'
import type { Dispatch } from './dispatch.ts'

/**
 * Finds workers that have died and gives their runs back. Death is proved at once on the same boot, and elsewhere by a beat counter that has not moved for 15 s
 * of our own monotonic time, in which the database has answered us; no wall clock is asked. Doing it twice, or in two processes, changes nothing.
 */
export interface Recovery {
  /** Looks once; answers how many runs were given back. */
  look(): Promise<number>
  /** Ends one open run of a living worker as lost, and first whatever of it still lives on this machine. False if somebody else has settled it. */
  giveBack(run: OpenRun, why: string): Promise<boolean>
  /** Ends a worker's entry and gives back whatever it still holds: for the dead, and for oneself when leaving. */
  bury(worker: string, how: { died: boolean }): Promise<number>
  start(): Promise<void>
  stop(): Promise<void>
}

export const deadAfterMs = 15_000
const lookEveryMs = 2_000
/** More than this between two answers was an outage, or our own sleep: a worker could not beat either, or we could not see it. */
const mostBetweenLooksMs = 2 * lookEveryMs

export function createRecovery(options: {
  db: Db
  settler: Settler
  dispatch: Dispatch
  bus: Bus
  clock: Clock
  log: Log
  self: string
  /** What the dead have left on this machine is nobody's any more. */
  onBuried?: () => Promise<void>
  /** Puts in order what one run of a dead worker left in its workspace on this machine, before the task may run again. */
  settleLeft?: (run: string) => Promise<void>
}): Recovery {
  const { db, settler, dispatch, bus, clock, log, onBuried, settleLeft } = options
  const seen = new Map<string, { beat: number; silentMs: number }>()
  let answeredAt: number | undefined
  let cancelTimer: (() => void) | undefined
  let looking: Promise<number> | undefined
  let stopped = true

  /** A silent one whose process we can see has not died: it stands still, and will find its runs taken. */
  const fateOf = (worker: WorkerRow, passedMs: number): 'dead' | 'silent' | undefined => {
    const alive = isAlive({ bootId: worker.boot_id, pid: worker.pid, startTime: Number(worker.start_time) })
    if (alive === false) return 'dead'
    const last = seen.get(worker.id)
    if (!last || last.beat !== worker.beat) {
      seen.set(worker.id, { beat: worker.beat, silentMs: 0 })
      return undefined
    }
    last.silentMs += passedMs
    if (last.silentMs <= deadAfterMs) return undefined
    return alive ? 'silent' : 'dead'
  }

  const settleLost = async (run: OpenRun, message: string, death: WorkerDeath | undefined): Promise<boolean> => {
    const task = await findTask(db, run.task_id)
    if (!task) return false
    return settler.settleRun(
      { id: run.run_id, taskId: run.task_id, sessionId: task.session_id, fence: run.fence },
      { outcome: 'lost', text: '', message },
      { death },
    )
  }

  /** Nothing of it was ever started, so it is no loss. */
  const takeBack = async (run: { run_id: string; task_id: string; fence: number }): Promise<boolean> => {
    const task = await findTask(db, run.task_id)
    if (!task) return false
    return settler.settleRun(
      { id: run.run_id, taskId: run.task_id, sessionId: task.session_id, fence: run.fence, untaken: true },
      { outcome: 'interrupted', text: '', message: 'The process that admitted this run is gone.' },
    )
  }

  const giveBack = async (open: OpenRun, why: string, death?: WorkerDeath): Promise<boolean> => {
    // Whatever is left of it on this machine ends before anybody may start the task again.
    const killed = open.kill_unit ? await endKillUnit(open.kill_unit) : 0
    // Whoever runs the task next tries that again, so it keeps nobody from it.
    await settleLeft?.(open.run_id).catch((error: unknown) =>
      log.warn('a workspace of a lost run is put in order later', { run: open.run_id, error: String(error) }),
    )
    const given = await settleLost(open, why, death)
    if (given)
      log.warn('a lost run was given back', {
        task: open.task_id,
        run: open.run_id,
        worker: open.worker_id,
        killed,
        reason: 'worker_lost',
      })
    return given
  }

  const bury = async (worker: string, { died }: { died: boolean }): Promise<number> => {
    await fp('worker.bury')
    await endWorker(db, worker, { at: new Date(clock.now()), died })
    await unbindTasks(db, worker)
    // Whoever ended its entry first has said whether it died.
    const given = await eachOf(await runsOfWorker(db, worker), (open) =>
      giveBack(open, 'The worker of this run is gone.', open.died ? deathOf(open) : undefined),
    )
    // Their jobs may lie in a queue that nobody reads any more; whoever still finds one gets no lease for it.
    const count = given + (await eachOf(await strandedRuns(db, worker), takeBack))
    await dispatch.forget(worker)
    seen.delete(worker)
    bus.tell('admission')
    return count
  }

  const lookOnce = async (): Promise<number> => {
    const living = await livingWorkers(db)
    const now = clock.monotonic()
    const passedMs = Math.min(now - (answeredAt ?? now), mostBetweenLooksMs)
    answeredAt = now
    const others = living.filter(({ id }) => id !== options.self)
    const dead = others.flatMap((worker) => {
      const fate = fateOf(worker, passedMs)
      return fate ? [{ id: worker.id, died: fate === 'dead' }] : []
    })
    let count = await eachOf(dead, ({ id, died }) => bury(id, { died }))
    await bookOrphans(db, new Date(clock.now()))
    const orphaned = await orphanedWorkers(db)
    count += await eachOf(orphaned, (worker) => bury(worker, { died: false }))
    if (dead.length + orphaned.length > 0) await onBuried?.()
    return count
  }

  const look = () => {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    return looking
  }
  const tick = () => {
    look()
      .catch((error: unknown) => log.warn('recovery will look again', { error: String(error) }))
      .finally(() => {
        if (!stopped) cancelTimer = clock.after(lookEveryMs, tick)
      })
  }

  return {
    look,
    giveBack: (open, why) => giveBack(open, why),
    bury,
    async start() {
      stopped = false
      await look().catch((error: unknown) => log.warn('recovery will look again', { error: String(error) }))
      cancelTimer = clock.after(lookEveryMs, tick)
    },
    async stop() {
      stopped = true
      cancelTimer?.()
      await looking?.catch(() => undefined)
    },
  }
}

const deathOf = ({ worker_id: worker, host, lasted_ms: lastedMs }: OpenRun): WorkerDeath => ({ worker, host, lastedMs })

/** Does the work for each of them, also if it fails for one, and fails after that. Answers the sum of what it came to. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<number | boolean>): Promise<number> {
  let sum = 0
  const errors: unknown[] = []
  for (const item of items) {
    try {
      sum += Number(await work(item))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return sum
}
