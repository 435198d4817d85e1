import { type RawBuilder, sql } from 'kysely'
import { type Column, statesOf, type TaskSort } from '../domain/task/column.ts'
import { type Stage, statesAt } from '../domain/task/stage.ts'
import { type LastAction, lastActionOf } from './actions.ts'
import type { Db } from './database.ts'
import type { TaskRow } from './tables.ts'

/** Which tasks: all of those that fit everything that is named. */
export interface TaskNarrowing {
  readonly states?: readonly string[] | undefined
  /** Columns of the board; a task fits that stands in one of them. */
  readonly columns?: readonly Column[] | undefined
  /** What protocols call where it stands; a task fits that stands at one of them. */
  readonly stages?: readonly Stage[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  /** In the prompt or the name, or the end of the id. */
  readonly text?: string | undefined
  readonly session?: string | undefined
  readonly parent?: string | undefined
  readonly endedSince?: Date | undefined
  readonly updatedSince?: Date | undefined
}

export interface ListFilter extends TaskNarrowing {
  readonly sort?: TaskSort | undefined
  readonly limit: number
  readonly before?: { readonly at: Date; readonly id: string } | undefined
}

type Listed = TaskRow & { current: LastAction | null }

/** The newest first, by what is asked. Prompts and answers are cut: a list of a thousand tasks must stay small. */
export async function listTasks(db: Db, filter: ListFilter): Promise<Listed[]> {
  const { sort = 'created', before } = filter
  const by = sql.ref(`${sort}_at`)
  const { rows } = await sql<Listed>`
    select id, state, reason, resume_at, agent, account, user_name, name, left(prompt, 200) as prompt, workspace, session_id, parent_id, priority, tags, created_at, updated_at, ended_at,
      case when result is null then null else jsonb_set(result, '{text}', to_jsonb(left(result->>'text', 500))) end as result,
      case when state = 'running' then ${lastActionOf('pawl.tasks.id')} end as current
    from pawl.tasks
    where ${fits(filter)} and ${sort === 'ended' ? sql`ended_at is not null` : sql`true`}
      and ${before ? sql`(${by}, id) < (${before.at}, ${before.id})` : sql`true`}
    order by ${by} desc, id desc limit ${filter.limit}
  `.execute(db)
  return rows
}

/** How many of them stand in each column of the board. */
export async function countByColumn(db: Db, filter: TaskNarrowing): Promise<Record<Column, number>> {
  const { rows } = await sql<Record<Column, number>>`
    select count(*) filter (where ${standsIn('working')})::int as working, count(*) filter (where ${standsIn('needs_you')})::int as needs_you,
      count(*) filter (where ${standsIn('review')})::int as review, count(*) filter (where ${standsIn('waiting')})::int as waiting,
      count(*) filter (where ${standsIn('done')})::int as done
    from pawl.tasks where ${fits(filter)}
  `.execute(db)
  return rows[0]!
}

function fits(filter: TaskNarrowing): RawBuilder<unknown> {
  const { states, columns, stages, agent, tag, text, session, parent, endedSince, updatedSince } = filter
  const all = [
    states && sql`state = any(${[...states]}::text[])`,
    columns && sql`(${columns.length === 0 ? sql`false` : sql.join(columns.map(standsIn), sql` or `)})`,
    stages && sql`(${stages.length === 0 ? sql`false` : sql.join(stages.map(isAt), sql` or `)})`,
    agent !== undefined && sql`agent = ${agent}`,
    tag !== undefined && sql`${tag} = any(tags)`,
    text !== undefined &&
      sql`(position(lower(${text}) in lower(prompt)) > 0 or position(lower(${text}) in lower(name)) > 0 or right(id, length(${text})) = ${text})`,
    session !== undefined && sql`session_id = ${session}`,
    parent !== undefined && sql`parent_id = ${parent}`,
    endedSince && sql`ended_at >= ${endedSince}`,
    updatedSince && sql`updated_at >= ${updatedSince}`,
  ].filter((one) => one !== undefined && one !== false)
  return all.length === 0 ? sql`true` : sql.join(all, sql` and `)
}

/** The same as `columnOf` in the domain. */
function standsIn(column: Column): RawBuilder<unknown> {
  const isOf = sql`state = any(${[...statesOf[column]]}::text[])`
  const waitsForSubtasks = sql`coalesce(reason->>'kind', '') = 'subtasks'`
  if (column === 'working') return sql`(${isOf} and (state <> 'blocked' or ${waitsForSubtasks}))`
  return column === 'needs_you' ? sql`(${isOf} and not ${waitsForSubtasks})` : sql`(${isOf})`
}

/** The same as `stageOf` in the domain. */
function isAt(stage: Stage): RawBuilder<unknown> {
  const isOf = sql`state = any(${[...statesAt[stage]]}::text[])`
  const kind = sql`coalesce(reason->>'kind', '')`
  if (stage === 'working') return sql`(${isOf} and (state <> 'blocked' or ${kind} = 'subtasks'))`
  if (stage === 'input_required') return sql`(${isOf} and (state <> 'blocked' or ${kind} <> 'subtasks'))`
  if (stage === 'auth_required') return sql`(${isOf} and ${kind} = 'auth_failed')`
  return stage === 'failed' ? sql`(${isOf} and (state <> 'failed' or ${kind} <> 'auth_failed'))` : sql`(${isOf})`
}
