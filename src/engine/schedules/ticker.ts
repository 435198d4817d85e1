import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { lockDue, lookAtSchedules, restingSince } from '../../store/schedules.ts'
import type { Bus } from '../journal/bus.ts'
import { fireIfResting, fireSchedule, planAnew, restEnds } from './fire.ts'
import { type MakeTasksParts, makeTasks } from './make-tasks.ts'

/** Fires schedules when they are due. Only `pawl serve` has one. */
export interface Ticker {
  /** Fires what is due and makes what waits. Calls while one is under way are served by one more round after it. */
  look(): Promise<void>
  start(): void
  stop(): Promise<void>
}

const lookEveryMs = 5_000
const leastWaitMs = 250
/** Clocks are corrected by less than this; what was fired further ahead shows that ours was wrong. */
const aheadMs = 3_600_000

export function createTicker(parts: MakeTasksParts & { bus: Bus; clock: Clock; log: Log }): Ticker {
  const { db, journal, bus, clock, log } = parts
  let looking: Promise<void> | undefined
  let isWanted = false
  let isStarted = false
  let isStopped = false
  let cancelTimer: (() => void) | undefined
  let hasWaiting = false
  let nextAt: number | undefined

  const fireDue = async () => {
    for (;;) {
      const isFired = await journal.transact('schedule.fire', async (tx) => {
        const row = await lockDue(tx, new Date(clock.now()))
        if (row) await fireSchedule(tx, row, clock.now())
        return row !== undefined
      })
      if (!isFired || isStopped) return
    }
  }
  /** Answers when the next time of rest will have been long enough. */
  const fireResting = async (): Promise<number | undefined> => {
    let soonest: number | undefined
    for (const resting of await restingSince(db, { now: new Date(clock.now()) })) {
      const due = restEnds(resting)
      if (due === undefined) continue
      if (due <= clock.now()) await journal.transact('schedule.fire', (tx) => fireIfResting(tx, resting.id, clock.now()))
      else soonest = Math.min(due, soonest ?? due)
    }
    return soonest
  }

  const round = async () => {
    const now = clock.now()
    const around = await lookAtSchedules(db, { now: new Date(now), ahead: new Date(now + aheadMs) })
    for (const id of around.ahead) await journal.transact('schedule.write', (tx) => planAnew(tx, id, clock.now()))
    if (around.is_due) await fireDue()
    const restAt = around.has_idle ? await fireResting() : undefined
    const mayWait = around.has_waiting || around.is_due || around.has_idle
    hasWaiting = mayWait && (await makeTasks(parts))
    const times = [around.is_due ? now : around.next_at?.getTime(), restAt].filter((at) => at !== undefined)
    nextAt = times.length === 0 ? undefined : Math.min(...times)
  }
  const look = (): Promise<void> => {
    if (looking) {
      isWanted = true
      return looking
    }
    looking = (async () => {
      try {
        do {
          isWanted = false
          await round()
        } while (isWanted && !isStopped)
      } finally {
        // In the same moment in which nothing more was wanted: whoever comes a moment later begins anew.
        looking = undefined
      }
    })()
    return looking
  }

  const tick = () => {
    if (!isStarted || isStopped) return
    look()
      .catch((error: unknown) => log.warn('schedules will be looked at again', { error: String(error) }))
      .then(() => {
        if (isStopped) return
        const untilNext = nextAt === undefined ? lookEveryMs : nextAt - clock.now() + 1
        cancelTimer?.()
        cancelTimer = clock.after(Math.max(Math.min(untilNext, lookEveryMs), leastWaitMs), tick)
      })
  }
  const unsubscribes = [
    bus.on('schedules', tick),
    // A task has ended: an earlier one that a tick waits for, maybe.
    bus.on('admission', () => hasWaiting && tick()),
  ]

  return {
    look,
    start() {
      isStarted = true
      tick()
    },
    async stop() {
      isStopped = true
      cancelTimer?.()
      for (const unsubscribe of unsubscribes) unsubscribe()
      await looking?.catch(() => undefined)
    },
  }
}
