import type { Clock } from '../../base/clock.ts'
import { localUser } from '../../domain/auth/role.ts'
import { denied, limited, unavailable } from '../../domain/error.ts'
import { type Db, inTransaction, type Tx } from '../../store/database.ts'
import { takeQuota } from '../../store/quotas.ts'
import { countQueued } from '../../store/tasks.ts'
import { findUser } from '../../store/users.ts'
import { dayOf } from '../auth/auth.ts'

/**
 * Tasks of a user who has only so many a day are counted with the tasks themselves. The owner of the home is not counted. Undefined if `insert` wrote nothing: then
 * nothing is counted either.
 */
export async function withinQuota<T>(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { user, tasks, together }: { user: string; tasks: number; together: boolean },
  insert: (to: Db | Tx) => Promise<T | undefined>,
): Promise<T | undefined> {
  const most = user === localUser ? null : await dailyTasks(db, user)
  if (most === null && !together) return insert(db)
  return inTransaction(db, async (tx) => {
    for (let counted = 0; most !== null && counted < tasks; counted++) await takeOne(tx, user, most, clock.now())
    const made = await insert(tx)
    if (made === undefined) throw new NotCounted()
    return made
  }).catch((error: unknown) => {
    if (error instanceof NotCounted) return undefined
    throw error
  })
}

async function takeOne(tx: Tx, user: string, most: number, nowMs: number): Promise<void> {
  if (await takeQuota(tx, user, dayOf(nowMs), most)) return
  throw limited(
    `The user "${user}" has asked for ${most} tasks today, as many as their daily limit allows; it begins anew at midnight UTC.`,
    secondsOfDayLeft(nowMs),
  )
}

/** A part that an agent splits off counts as a task of the user it works for. */
export async function countSubtask(tx: Tx, user: string, nowMs: number): Promise<void> {
  const most = user === localUser ? null : await dailyTasks(tx, user)
  if (most !== null) await takeOne(tx, user, most, nowMs)
}

export async function assertQueueHasRoom(db: Db | Tx, most: number): Promise<void> {
  const queued = await countQueued(db, most)
  if (queued >= most)
    throw unavailable(`${queued} tasks are queued, as many as limits.maxQueued allows; wait until some are done, or raise it.`)
}

async function dailyTasks(db: Db | Tx, user: string): Promise<number | null> {
  const found = await findUser(db, user)
  if (!found) throw denied(`The user "${user}" was removed meanwhile.`)
  return found.daily_tasks
}

/** Rolls back what was counted for a task that an earlier request had made already. */
class NotCounted extends Error {}

const dayMs = 86_400_000
const secondsOfDayLeft = (nowMs: number) => Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)
