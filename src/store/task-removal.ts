import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import type { TaskRow } from './tables.ts'

/**
 * What is deleted with a task, in this order, and by which column it is found: `task_id`, or `run_id` for what belongs to one of its runs. A table that refers to tasks
 * or runs either stands here or says itself, with "on delete", what becomes of its rows; a test compares the list with the schema.
 */
export const belongings = [
  { table: 'pawl.idempotency_keys', column: 'task_id' },
  { table: 'pawl.tokens', column: 'task_id' },
  { table: 'pawl.tokens', column: 'run_id' },
  { table: 'pawl.leases', column: 'task_id' },
  { table: 'pawl.questions', column: 'task_id' },
  { table: 'pawl.events', column: 'task_id' },
  { table: 'pawl.journal_heads', column: 'task_id' },
  { table: 'pawl.runs', column: 'task_id' },
] as const satisfies readonly { table: string; column: 'task_id' | 'run_id' }[]

/** The task with everything below it, locked from the leaves up, as a subtask that ends locks its parent. */
export async function lockSubtree(tx: Tx, id: string): Promise<Pick<TaskRow, 'id' | 'state' | 'user_name'>[]> {
  const { rows } = await sql<Pick<TaskRow, 'id' | 'state' | 'user_name'>>`
    with recursive down as (
      select id from pawl.tasks where id = ${id}
      union select t.id from pawl.tasks t join down on t.parent_id = down.id
    ) select id, state, user_name from pawl.tasks where id in (select id from down) order by depth desc, id for update
  `.execute(tx)
  return rows
}

/** Deletes the tasks with all that is theirs, and remembers the runs whose files are to be removed. Answers those. */
export async function deleteTasks(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const tasks = [...ids]
  const { rows } = await sql<{ id: string }>`select id from pawl.runs where task_id = any(${tasks}::text[])`.execute(tx)
  const runs = rows.map((row) => row.id)
  await sql`insert into pawl.removed_runs (run_id) select unnest(${runs}::text[]) on conflict do nothing`.execute(tx)
  for (const { table, column } of belongings)
    await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = any(${column === 'run_id' ? runs : tasks}::text[])`.execute(
      tx,
    )
  await sql`delete from pawl.tasks where id = any(${tasks}::text[])`.execute(tx)
  return runs
}

export async function removedRuns(db: Db): Promise<string[]> {
  const { rows } = await sql<{ run_id: string }>`select run_id from pawl.removed_runs order by run_id limit 10000`.execute(db)
  return rows.map((row) => row.run_id)
}

export async function forgetRemovedRuns(db: Db, runs: readonly string[]): Promise<void> {
  await sql`delete from pawl.removed_runs where run_id = any(${[...runs]}::text[])`.execute(db)
}
