import { messageOf } from '../../domain/error.ts'
import { dueBetween } from '../../domain/schedule/next-time.ts'
import type { TickState } from '../../domain/schedule/schedule.ts'
import type { Tx } from '../../store/database.ts'
import { isFromDatabase } from '../../store/prepared.ts'
import * as store from '../../store/schedules.ts'
import type { ScheduleRow } from '../../store/tables.ts'
import { fireTime, planOf } from './plan.ts'

/** As late as this a tick still counts as fired when it was due: a daemon that is started anew misses nothing. */
const punctualMs = 60_000
/** No more are made up for, and no more wait for each other. */
const mostAtOnce = 100

/**
 * Fires a schedule that is due, under its lock: its ticks, and when it is due next, are written together, so a moment is acted upon once, whoever dies and however
 * many daemons there are. The tasks of the ticks are made afterwards, by `makeTasks`.
 */
export async function fireSchedule(tx: Tx, row: ScheduleRow, nowMs: number): Promise<void> {
  const at = new Date(nowMs)
  if (row.next_due_at === null) return
  try {
    const { fired, missed, last } = await ticksNow(row, row.next_due_at.getTime(), nowMs)
    if (missed) await store.insertTick(tx, { schedule: row.id, ...missed, state: 'missed', at })
    for (const due of fired) await beginTick(tx, row, { due: new Date(due), at })
    await store.updateSchedule(tx, { ...row, ...planOf(row, last), last_due_at: new Date(last) })
  } catch (error) {
    // Its zone or expression cannot be read any more: others must not wait for it, and it must not look healthy.
    if (isFromDatabase(error)) throw error
    const detail = `${messageOf(error)} It is paused until it is changed.`
    await store.insertTick(tx, { schedule: row.id, due: row.next_due_at, state: 'failed', detail, at })
    await store.updateSchedule(tx, { ...row, state: 'paused', next_due_at: null, next_at: null })
  }
  await store.trimTicks(tx, row.id, at)
}

/** Which of the times that have come are fired, and what is said of the others. */
async function ticksNow(row: ScheduleRow, from: number, nowMs: number) {
  const { moments, earlier } = dueBetween(row.timing, row.since.getTime(), { from, until: nowMs, most: mostAtOnce })
  const firstLater = moments.findLastIndex((due) => fireTime(row, due) <= nowMs) + 1
  const come = firstLater === 0 ? [from] : moments.slice(0, firstLater)
  const last = come.at(-1)!
  const isPunctual = nowMs - fireTime(row, last) <= punctualMs || row.timing.kind === 'initial'
  const fired = row.catch_up === 'all' ? come : row.catch_up === 'one' || isPunctual ? [last] : []
  const left = come.slice(0, come.length - fired.length)
  const count = earlier === undefined ? undefined : earlier + left.length
  if (count === 0) return { fired, last }
  const times = count === undefined ? 'Many times' : count === 1 ? 'One time' : `${count} times`
  const due = new Date(left.at(-1) ?? come[0]! - 1)
  return { fired, last, missed: { due, detail: `${times} passed while nothing could fire it; catch-up is "${row.catch_up}".` } }
}

/** One tick, as the policy about earlier ones has it. False if there is one of that moment already. */
export async function beginTick(
  tx: Tx,
  row: ScheduleRow,
  { due, at, isManual = false }: { due: Date; at: Date; isManual?: boolean },
): Promise<{ state: TickState; detail?: string } | undefined> {
  const begun = await decide(tx, row, at)
  const request = begun.state === 'waiting' ? row.task : undefined
  return (await store.insertTick(tx, { schedule: row.id, due, at, isManual, request, ...begun })) ? begun : undefined
}

async function decide(tx: Tx, row: ScheduleRow, at: Date): Promise<{ state: 'waiting' | 'skipped'; detail?: string }> {
  switch (row.overlap) {
    case 'skip': {
      const [open] = await store.openTasks(tx, row.id)
      if (open) return { state: 'skipped', detail: `Task ${open.id} of an earlier tick is still ${open.state}.` }
      if ((await store.countWaiting(tx, row.id)) > 0) return { state: 'skipped', detail: 'An earlier tick has not begun yet.' }
      return { state: 'waiting' }
    }
    case 'queue':
      if ((await store.countWaiting(tx, row.id)) >= mostAtOnce)
        return { state: 'skipped', detail: `${mostAtOnce} earlier ticks wait already.` }
      return { state: 'waiting' }
    case 'cancel':
      await store.skipWaiting(tx, row.id, { detail: 'The next was due before it had begun.', at, manualToo: true })
      return { state: 'waiting' }
  }
}

/** Fires a schedule that waits for a time of rest, if that has come. */
export async function fireIfResting(tx: Tx, id: string, nowMs: number): Promise<void> {
  const row = await store.lockSchedule(tx, id)
  const [resting] = row ? await store.restingSince(tx, { now: new Date(nowMs), id }) : []
  const due = resting && restEnds(resting)
  if (!row || due === undefined || due > nowMs) return
  const at = new Date(nowMs)
  await beginTick(tx, row, { due: new Date(due), at })
  await store.updateSchedule(tx, { ...row, last_due_at: at })
  await store.trimTicks(tx, id, at)
}

/** When a time of rest will have been long enough; undefined while something is to be done. */
export const restEnds = ({ timing, rest_since }: Pick<ScheduleRow, 'timing'> & { rest_since: Date | null }) =>
  timing.kind === 'idle' && rest_since ? rest_since.getTime() + timing.idleMs : undefined

/** The clock was set back: what was planned for the time it showed is planned anew. What was fired is not fired again. */
export async function planAnew(tx: Tx, id: string, nowMs: number): Promise<void> {
  const row = await store.lockSchedule(tx, id)
  if (row?.state !== 'active') return
  const at = new Date(nowMs)
  // An interval goes on from now: on its old times it would stand still until the clock has caught up with what was fired.
  const since = row.since > at || row.timing.kind === 'every' ? at : row.since
  await store.updateSchedule(tx, { ...row, since, ...planOf({ ...row, since }, nowMs), last_due_at: null, updated_at: at })
}
