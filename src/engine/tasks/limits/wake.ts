import type { Reason } from '../../../domain/task/task.ts'
import { lockAdmission } from '../../../store/admission.ts'
import {
  type Due,
  dueTasks,
  endServing,
  putOffParked,
  putOffQueued,
  queuedWithFailover,
  type Taker,
} from '../../../store/cooldowns.ts'
import { lockTask } from '../../../store/tasks.ts'
import { failoverEvent } from '../../base/retry.ts'
import { type Moving, move } from '../move.ts'
import { failOver } from './failover.ts'

/**
 * Parked tasks whose time has come. One whose account is free goes on; of several that were let go together the first does, and the others follow one after another.
 * While nobody has seen the account work again, one of its tasks goes first; if that one meets the limit again, all wait on without having been started.
 */
export async function wakeDue(moving: Moving, taker: Taker, chance: () => number): Promise<void> {
  // Two processes that each let one go first would make two.
  await lockAdmission(moving.tx)
  const later: { id: string; until: Date; reason: Reason }[] = []
  for (const due of await dueTasks(moving.tx, moving.at, taker)) {
    const what = decideDue(due, moving.at.getTime(), chance)
    if (what === 'wake') await wake(moving, due.id, { detail: due.until === null ? undefined : recheck, after: due.reason?.kind })
    else if (what !== 'stay') later.push({ id: due.id, ...what })
  }
  if (later.length === 0) return
  const putOff = await putOffParked(moving.tx, later, moving.at)
  for (const { id, until, reason } of later)
    if (putOff.has(id))
      moving.record({ task: id, event: { type: 'task.parked', data: { ...reason, until: until.toISOString() } } })
}

const recheck = 'as the first of its account, to see whether the limit is over'

/** The move out of waiting for a time. Undefined if the task was not waiting any more. */
export const wake = (
  moving: Moving,
  id: string,
  { detail, after }: { detail?: string | undefined; after?: string | undefined } = {},
) =>
  move(moving, id, 'wake', {
    reason: null,
    event: {
      type: 'task.requeued',
      data: { why: 'wake', ...(detail === undefined ? {} : { detail }), ...(after === undefined ? {} : { after }) },
    },
  })

/** Queued tasks of an account that is at its limit go to another agent if they may, or wait for its end where everybody can see until when, and hold nobody up. */
export async function putOffCooling({ tx, record, at }: Moving): Promise<number> {
  await endServing(tx, at)
  for (const id of await queuedWithFailover(tx, at)) {
    const task = await lockTask(tx, id)
    const over = task?.state === 'queued' ? await failOver(tx, task, at) : undefined
    if (over) record({ task: id, event: failoverEvent(over) })
  }
  const putOff = await putOffQueued(tx, at)
  for (const { id, until, why } of putOff)
    record({
      task: id,
      event: { type: 'task.parked', data: { kind: 'usage_limit', until: until.toISOString(), detail: why } },
    })
  return putOff.length
}

/** What becomes of a due task. Pure. */
export function decideDue(
  due: Pick<Due, 'account' | 'reason' | 'kind' | 'until' | 'is_closed' | 'why' | 'place' | 'of'>,
  nowMs: number,
  chance: () => number,
): 'wake' | 'stay' | { until: Date; reason: Reason } {
  const { until, place } = due
  if (until !== null && due.is_closed)
    return { until, reason: { kind: due.kind === 'usage_limit' ? 'usage_limit' : 'backoff', detail: due.why ?? '' } }
  if (until !== null) return place === 1 ? 'wake' : 'stay'
  if (place === 1 || due.account === '' || due.reason?.kind === 'staggered') return 'wake'
  const reason = { kind: 'staggered', detail: 'the limit is over; tasks of the account go on one after another' }
  return { until: new Date(nowMs + spreadMs(place, due.of, chance())), reason }
}

const gapMs = 2_000
const widestMs = 15 * 60_000

/** How long the task at this place waits so that all of them come apart from each other: the more they are the longer, up to a quarter of an hour. */
export function spreadMs(place: number, of: number, chance: number): number {
  const gap = Math.min(gapMs, widestMs / Math.max(of - 1, 1))
  return Math.round(gap * (place - 2 + (1 + chance) / 2))
}
