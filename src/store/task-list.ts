import { type RawBuilder, sql } from 'kysely'
import type { TaskSort } from '../domain/task/column.ts'
import { ended, isEnded, taskStates } from '../domain/task/task.ts'
import { type LastAction, lastActionOf } from './actions.ts'
import type { Db } from './database.ts'
import type { TaskRow } from './tables.ts'
import { fits, hasIndexOfWords, isIn, isOpen, isOver, statesOfFitting, type TaskNarrowing } from './task-filter.ts'

export interface ListFilter extends TaskNarrowing {
  readonly sort?: TaskSort | undefined
  readonly limit: number
  readonly before?: { readonly at: Date; readonly id: string } | undefined
}

type Listed = TaskRow & { current: LastAction | null }
type Sql = RawBuilder<unknown>

/** Prompts and answers are cut: a list of a thousand tasks must stay small. */
const listed = sql`
  t.id, t.state, t.reason, t.resume_at, t.agent, t.account, t.user_name, t.name, left(t.prompt, 200) as prompt, t.workspace, t.session_id, t.parent_id, t.priority, t.tags,
  t.created_at, t.updated_at, t.ended_at,
  case when t.result is null then null else jsonb_set(t.result, '{text}', to_jsonb(left(t.result->>'text', 500))) end as result,
  case when t.state = 'running' then ${lastActionOf('t.id')} end as current`

/** So many tasks are sorted; of more, the newest are looked for one after the other. */
const mostSorted = 500

/**
 * The newest first, by what is asked. Words, tags and times of another order are in no index of the order that is asked for: what most tasks fit is found among the newest of all, what few fit by an
 * index of its own, and is sorted. Only what many fit and none of the newest is looked for one by one.
 */
export async function listTasks(db: Db, filter: ListFilter): Promise<Listed[]> {
  const { sort, text, tag, endedSince, updatedSince, ...others } = filter
  const loose = {
    text,
    tag,
    endedSince: sort === 'ended' ? undefined : endedSince,
    updatedSince: sort === 'updated' ? undefined : updatedSince,
  }
  const walk = () => newest<Listed>(filter, listed, filter.limit).execute(db)
  if (Object.values(loose).every((one) => one === undefined)) return (await walk()).rows

  const window = filter.limit * 2
  const kept = {
    sort,
    endedSince: sort === 'ended' ? endedSince : undefined,
    updatedSince: sort === 'updated' ? updatedSince : undefined,
  }
  const { rows: lately } = await newest<{ id: string; fits: boolean }>(
    { ...others, ...kept },
    sql`t.id, ${fits(loose)} as fits`,
    window,
  ).execute(db)
  const found = lately.filter((one) => one.fits).slice(0, filter.limit)
  if (found.length === filter.limit || lately.length < window) return sorted(db, filter, found)
  const { rows: some } = (await byOwnIndex(loose)?.execute(db)) ?? {}
  return some && some.length <= mostSorted ? sorted(db, filter, some) : (await walk()).rows
}

/** At least those that fit, by one of the conditions, but only so many; undefined if none of them has an index. */
function byOwnIndex({ text, tag, endedSince, updatedSince }: TaskNarrowing): RawBuilder<{ id: string }> | undefined {
  const limit = sql`limit ${mostSorted + 1}`
  if (hasIndexOfWords({ text, tag })) {
    const those = sql`select id from pawl.tasks where ${fits({ text, tag })}`
    return sql`${those} and ${isOpen} union all ${those} and ${isOver} ${limit}`
  }
  if (endedSince) return sql`select id from pawl.tasks where ${fits({ endedSince })} order by ended_at desc, id desc ${limit}`
  if (updatedSince)
    return sql`select id from pawl.tasks where ${fits({ updatedSince })} order by updated_at desc, id desc ${limit}`
  return undefined
}

/** Those of some tasks that fit, in order. */
async function sorted(db: Db, filter: ListFilter, some: readonly { id: string }[]): Promise<Listed[]> {
  const by = orderOf(filter)
  const { rows } = await sql<Listed>`
    select ${listed} from pawl.tasks t where id = any(${some.map(({ id }) => id)}::text[]) and ${fits(filter)} and ${isBefore(filter)}
    order by ${by} desc, id desc limit ${filter.limit}
  `.execute(db)
  return rows
}

/** The tasks that fit, walked from the newest on in an index of just the order that is asked for: of all tasks, of an agent or of each state. */
function newest<Row>(filter: ListFilter, columns: Sql, limit: number): RawBuilder<Row> {
  const { sort, agent, session, parent } = filter
  const by = orderOf(filter)
  const states = statesOfFitting(filter).filter((state) => sort !== 'ended' || isEnded(state))
  const isAny = states.length === (sort === 'ended' ? ended : taskStates).length
  const isFew = session !== undefined || parent !== undefined

  // Most tasks are completed: whoever does not ask for those has less to walk past among the tasks of each state.
  if (agent !== undefined && states.includes('completed') && !isFew) {
    // The order begins with the agent, and the agent is a list of one: to the planner a plain agent is no part of an order, and it may walk past the tasks of all others.
    const { agent: _, ...rest } = filter
    return sql<Row>`
      select ${columns} from pawl.tasks t where agent = any(array[${agent}]::text[]) and ${fits(rest)} and ${isBefore(filter)}
      order by agent desc, ${by} desc, id desc limit ${limit}
    `
  }
  const where = sql`${fits(filter)} and ${isBefore(filter)}`
  if (isAny || isFew)
    return sql<Row>`select ${columns} from pawl.tasks t where ${where} order by ${by} desc, id desc limit ${limit}`
  const each = states.map(
    (state) => sql`(select * from pawl.tasks where ${isIn([state])} and ${where} order by ${by} desc, id desc limit ${limit})`,
  )
  const from = each.length === 0 ? sql`select * from pawl.tasks where false` : sql.join(each, sql` union all `)
  return sql<Row>`select ${columns} from (${from}) t order by ${by} desc, id desc limit ${limit}`
}

const orderOf = ({ sort = 'created' }: ListFilter) => sql.ref(`${sort}_at`)

/** One that has not ended has no place in the order of ends. */
const hasTime = ({ sort }: ListFilter) => (sort === 'ended' ? sql`ended_at is not null` : sql`true`)

const isBefore = (filter: ListFilter) =>
  filter.before
    ? sql`${hasTime(filter)} and (${orderOf(filter)}, id) < (${filter.before.at}, ${filter.before.id})`
    : hasTime(filter)
