import { sql } from 'kysely'
import type { Shortfall } from '../domain/run/outcome.ts'
import { heldBackBy, type TaskState } from '../domain/task/task.ts'
import type { Db, Tx } from './database.ts'
import { shortfallColumn } from './shortfall.ts'
import type { TaskRow } from './tables.ts'

/** A task that another one depends on or is a part of. */
export type Related = Pick<TaskRow, 'id' | 'state' | 'name' | 'reason' | 'root_id' | 'parent_id' | 'depth'>

/**
 * The tasks as they are now, kept so until the transaction ends, in the order of their ids: who is waited for is older than who waits, so everybody locks in one
 * direction. Ids that name no task are left out.
 */
export async function lockRelated(tx: Tx, ids: readonly string[]): Promise<Related[]> {
  return (await sql<Related>`${related(ids)} order by id for no key update`.execute(tx)).rows
}

/** The same tasks as they are now; they may change at once. */
export async function findRelated(db: Db, ids: readonly string[]): Promise<Related[]> {
  return (await related(ids).execute(db)).rows
}

const related = (ids: readonly string[]) =>
  sql<Related>`select id, state, name, reason, root_id, parent_id, depth from pawl.tasks where id = any(${[...ids]}::text[])`

/** Tells the tasks that somebody comes to wait for them. Their rows change by it, so a move that waits for our lock sees it. */
export async function markWaitedFor(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`update pawl.tasks set has_dependents = true where id = any(${[...ids]}::text[])`.execute(tx)
}

/** All tasks above this one. */
export async function ancestorsOf(db: Db | Tx, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive up as (
      select id, parent_id from pawl.tasks where id = ${id}
      union select t.id, t.parent_id from pawl.tasks t join up on t.id = up.parent_id
    ) select id from up
  `.execute(db)
  return rows.map((row) => row.id)
}

export interface Dependency {
  readonly id: string
  readonly state: TaskState
  readonly name: string | null
  readonly shortfall?: Shortfall
}

export async function dependenciesOf(db: Db | Tx, task: string): Promise<Dependency[]> {
  const { rows } = await sql<Omit<Dependency, 'shortfall'> & { shortfall: Shortfall | null }>`
    select t.id, t.state, t.name, ${shortfallColumn('t')} as shortfall
    from pawl.task_dependencies d join pawl.tasks t on t.id = d.depends_on_id where d.task_id = ${task} order by t.id
  `.execute(db)
  return rows.map(({ shortfall, ...one }) => (shortfall === null ? one : { ...one, shortfall }))
}

type Waiting = Pick<TaskRow, 'id' | 'state' | 'reason' | 'priority' | 'parent_id' | 'spec'>

/** Those that still wait for the task, or are held back by it, locked in the order of their ids. */
export async function lockWaiting(tx: Tx, on: string): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select id, state, reason, priority, parent_id, spec from pawl.tasks
    where (state = 'created' or (state = 'blocked' and reason ->> 'kind' = any(${Object.values(heldBackBy)}::text[])))
      and id in (select task_id from pawl.task_dependencies where depends_on_id = ${on})
    order by id for no key update
  `.execute(tx)
  return rows
}

/** What keeps each of these tasks: dependencies that are not completed, or did less than they were asked for. A statement of its own: it must see what was committed while the locks were waited for. */
export async function unmetDependencies(tx: Tx, tasks: readonly string[]): Promise<Map<string, Related[]>> {
  const { rows } = await sql<Related & { task_id: string }>`
    select d.task_id, t.id, t.state, t.name, t.reason, t.root_id, t.parent_id, t.depth
    from pawl.task_dependencies d join pawl.tasks t on t.id = d.depends_on_id
    where d.task_id = any(${[...tasks]}::text[]) and (t.state <> 'completed' or ${shortfallColumn('t')} is not null)
    order by t.id
  `.execute(tx)
  return Map.groupBy(rows, ({ task_id }) => task_id)
}
