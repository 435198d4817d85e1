import { sql } from 'kysely'
import type { Shortfall } from '../domain/run/outcome.ts'
import { ended, type Reason, type TaskState } from '../domain/task/task.ts'
import type { Statements } from './at-once.ts'
import type { Db, Tx } from './database.ts'
import { shortfallColumn } from './shortfall.ts'
import type { TaskResult, TaskRow } from './tables.ts'

/** One end of one subtask: a subtask that was tried again since has another. */
const endOf = (alias: string) => sql`${sql.ref(`${alias}.id`)} || ' ' || ${sql.ref(`${alias}.fence`)}`

type Parent = Pick<TaskRow, 'id' | 'told_subtasks'>

/** How many subtasks are open, and of how many ends their parent has not been told. Exact only while the parent is locked. */
export async function countSubtasks(tx: Statements, parent: Parent): Promise<{ open_subtasks: number; untold_subtasks: number }> {
  const { rows } = await sql<{ open_subtasks: number; untold_subtasks: number }>`
    select count(*) filter (where not is_over) as open_subtasks, count(*) filter (where is_over and not is_told) as untold_subtasks
    from (
      select t.state = any(${[...ended]}::text[]) as is_over, ${endOf('t')} = any(${parent.told_subtasks}::text[]) as is_told
      from pawl.tasks t where t.parent_id = ${parent.id}
    ) as subtasks
  `.execute(tx)
  return rows[0]!
}

/** Is there a subtask of which a further run of the task will hear? Then this one is not its last. */
export async function hasSubtasksToHear(db: Db | Tx, parent: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select 1 from pawl.tasks t join pawl.tasks p on p.id = t.parent_id
      where t.parent_id = ${parent} and (t.state <> all(${[...ended]}::text[]) or ${endOf('t')} <> all(p.told_subtasks))
    ) as has
  `.execute(db)
  return rows[0]?.has === true
}

export interface SubtaskRow {
  readonly id: string
  readonly parent_id: string
  readonly name: string | null
  readonly prompt: string
  readonly state: TaskState
  readonly reason: Reason | null
  readonly result: TaskResult | null
}

/** The subtasks that have ended without their parent being told. From now on it counts as told; the parent is locked. */
export async function takeUntold(tx: Tx, parent: Parent): Promise<SubtaskRow[]> {
  const { rows } = await sql<SubtaskRow & { end: string }>`
    select t.id, t.parent_id, t.name, left(t.prompt, 200) as prompt, t.state, t.reason, t.result, ${endOf('t')} as end
    from pawl.tasks t
    where t.parent_id = ${parent.id} and t.state = any(${[...ended]}::text[]) and ${endOf('t')} <> all(${parent.told_subtasks}::text[])
    order by t.created_at, t.id
  `.execute(tx)
  if (rows.length > 0)
    await sql`
      update pawl.tasks set told_subtasks = told_subtasks || ${rows.map(({ end }) => end)}::text[] where id = ${parent.id}
    `.execute(tx)
  return rows
}

/** The subtasks of one task, in the order in which they were made. */
export async function subtasksOf(db: Db | Tx, parent: string): Promise<SubtaskRow[]> {
  const { rows } = await sql<SubtaskRow>`
    select id, parent_id, name, left(prompt, 200) as prompt, state, reason, result from pawl.tasks where parent_id = ${parent} order by created_at, id
  `.execute(db)
  return rows
}

/** Everything below a task, each after its parent. */
export async function treeBelow(
  db: Db | Tx,
  task: string,
): Promise<(Pick<SubtaskRow, 'id' | 'parent_id' | 'name' | 'prompt' | 'state'> & { shortfall: Shortfall | null })[]> {
  const { rows } = await sql<SubtaskRow & { shortfall: Shortfall | null }>`
    with recursive tree as (
      select id, parent_id, name, left(prompt, 200) as prompt, state, reason, created_at, depth from pawl.tasks where parent_id = ${task}
      union all
      select t.id, t.parent_id, t.name, left(t.prompt, 200), t.state, t.reason, t.created_at, t.depth from pawl.tasks t join tree on t.parent_id = tree.id
    )
    select id, parent_id, name, prompt, state, ${shortfallColumn('tree')} as shortfall from tree order by depth, created_at, id
  `.execute(db)
  return rows
}

/** How many subtasks there are in the whole tree of a task. */
export async function countTree(tx: Tx, root: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pawl.tasks where root_id = ${root} and root_id <> id
  `.execute(tx)
  return rows[0]?.count ?? 0
}

/** The caps that the subtasks of a task were given, together. */
export async function capsGiven(tx: Tx, parent: string): Promise<{ usd: number; tokens: number }> {
  const { rows } = await sql<{ usd: number; tokens: number }>`
    select coalesce(sum((agent_config -> 'budget' ->> 'usd')::float8), 0) as usd, coalesce(sum((agent_config -> 'budget' ->> 'tokens')::float8), 0) as tokens
    from pawl.tasks where parent_id = ${parent}
  `.execute(tx)
  return rows[0]!
}

type TreeTask = Pick<TaskRow, 'id' | 'state' | 'has_subtasks'>

const openTree = (task: string) => sql`
  with recursive tree as (
    select id from pawl.tasks where id = ${task}
    union all
    select t.id from pawl.tasks t join tree on t.parent_id = tree.id
  )
  select id, state, has_subtasks from pawl.tasks
  where id = any(array(select id from tree)) and (id = ${task} or state <> all(${[...ended]}::text[]))
`

/**
 * A task and everything below it that has not ended, locked from the leaves up, as a subtask that ends locks its parent; among equals the older first, as a task that
 * ends locks those that depend on it. Undefined if somebody added to it meanwhile, which only shows afterwards: then it is to be let go and begun again.
 */
export async function lockTree(tx: Tx, task: string): Promise<TreeTask[] | undefined> {
  const { rows: locked } = await sql<TreeTask>`${openTree(task)} order by depth desc, id for update`.execute(tx)
  if (!locked.some((each) => each.has_subtasks)) return locked
  const { rows: open } = await sql<TreeTask>`${openTree(task)}`.execute(tx)
  const known = new Set(locked.map(({ id }) => id))
  return open.every(({ id }) => known.has(id)) ? locked : undefined
}
