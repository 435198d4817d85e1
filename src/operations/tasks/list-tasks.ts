import { invalid } from '../../domain/error.ts'
import { TaskId } from '../../domain/id.ts'
import type { Column, TaskSort } from '../../domain/task/column.ts'
import type { TaskState } from '../../domain/task/task.ts'
import type { Page, TaskSummary } from '../../domain/view/view.ts'
import { translateDbErrors } from '../../engine/base/translate-db-errors.ts'
import type { Limits } from '../../engine/queue/admission.ts'
import { interruptedTasks } from '../../engine/queue/interrupted.ts'
import type { Db } from '../../store/database.ts'
import { countByColumn } from '../../store/task-counts.ts'
import type * as filter from '../../store/task-filter.ts'
import * as store from '../../store/task-list.ts'
import { whatTheyWaitFor } from '../../store/waiting.ts'
import { taskSummary } from './views.ts'

/** Which tasks; times as the API writes them. */
export interface TaskNarrowing extends Omit<filter.TaskNarrowing, 'states' | 'columns' | 'endedSince' | 'updatedSince'> {
  readonly states?: readonly TaskState[] | undefined
  readonly columns?: readonly Column[] | undefined
  readonly endedSince?: string | undefined
  readonly updatedSince?: string | undefined
}

export interface TaskFilter extends TaskNarrowing {
  readonly sort?: TaskSort | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export async function listTasks(
  db: Db,
  { cursor, ...filter }: TaskFilter,
  { limits, now, runsNothing }: { limits: Limits | undefined; now: Date; runsNothing?: boolean | undefined },
): Promise<Page<TaskSummary>> {
  const { sort = 'created', limit } = filter
  const before = cursor === undefined ? undefined : readCursor(cursor, sort)
  const rows = await translateDbErrors(() => store.listTasks(db, { ...filter, ...timesOf(filter), limit: limit + 1, before }))
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const queued = items.filter(({ state, reason }) => state === 'queued' && reason === null)
  const reasons = await translateDbErrors(() => whatTheyWaitFor(db, queued, limits, now))
  const reasonOf = new Map(queued.map(({ id }, n) => [id, reasons[n] ?? null]))
  const running = runsNothing ? items.filter(({ state }) => state === 'running').map(({ id }) => id) : []
  const interrupted = await translateDbErrors(() => interruptedTasks(db, running, now))
  return {
    items: items.map((row) =>
      taskSummary({ ...row, reason: row.reason ?? reasonOf.get(row.id) ?? null, isInterrupted: interrupted.has(row.id) }),
    ),
    next: rows.length > limit && last ? writeCursor(last[`${sort}_at`]!, last.id, sort) : null,
  }
}

export const countColumns = (db: Db, filter: TaskNarrowing): Promise<Record<Column, number>> =>
  translateDbErrors(() => countByColumn(db, { ...filter, ...timesOf(filter) }))

const timesOf = ({ endedSince, updatedSince }: TaskNarrowing) => ({
  endedSince: endedSince === undefined ? undefined : new Date(endedSince),
  updatedSince: updatedSince === undefined ? undefined : new Date(updatedSince),
})

const writeCursor = (at: Date, id: string, sort: TaskSort) =>
  Buffer.from(JSON.stringify([at.toISOString(), id, sort])).toString('base64url')

function readCursor(cursor: string, sort: TaskSort): { at: Date; id: string } {
  try {
    const [at, id, of = 'created'] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as [string, string, string?]
    const date = new Date(at)
    // A database knows fewer times than JavaScript, and not every text.
    if (date.getFullYear() > 1_970 && date.getFullYear() < 10_000 && TaskId.safeParse(id).success && of === sort)
      return { at: date, id }
  } catch {
    // Said below, together with a cursor that is JSON but not ours.
  }
  throw invalid('This cursor is not one that a list ordered like this has given; leave it out to begin at the newest.')
}
