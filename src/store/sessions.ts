import { sql } from 'kysely'
import type { EventType } from '../domain/event/event.ts'
import type { Shortfall } from '../domain/run/outcome.ts'
import type { TaskState } from '../domain/task/task.ts'
import type { SessionChoices } from '../domain/view/view.ts'
import type { Db, Tx } from './database.ts'
import { shortfallColumn } from './shortfall.ts'
import type { SessionRow } from './tables.ts'

/** What the next run of a session begins with: a conversation to go on with, or none, and then perhaps a history to be told. */
export async function setConversation(
  tx: Tx,
  session: string,
  next: { readonly vendorId: string | null; readonly retell: boolean; readonly at: Date },
): Promise<void> {
  await sql`update pawl.sessions set vendor_id = ${next.vendorId}, retell = ${next.retell}, updated_at = ${next.at} where id = ${session}`.execute(
    tx,
  )
}

/** Once the journal holds where a conversation came from, the session need not remember it. False if that was said before. */
export async function forgetOrigin(tx: Tx, session: string): Promise<boolean> {
  const { rows } =
    await sql`update pawl.sessions set adopted_from = null where id = ${session} and adopted_from is not null returning id`.execute(
      tx,
    )
  return rows.length === 1
}

/** What the conversation of a task is called by its program: as its session has it now, and as the task itself heard it last. */
export async function lastSessionsOf(db: Db, task: { readonly id: string; readonly session_id: string }): Promise<string[]> {
  const { rows } = await sql<{ vendor_id: string | null; heard: string | null }>`
    select s.vendor_id, (
      select e.data ->> 'vendorId' from pawl.events e where e.task_id = ${task.id} and e.type = 'agent.session' order by e.seq desc limit 1
    ) as heard
    from pawl.sessions s where s.id = ${task.session_id}
  `.execute(db)
  return [rows[0]?.vendor_id, rows[0]?.heard].filter((id) => typeof id === 'string')
}

/** A session that exists before its first task. */
export async function insertSession(
  tx: Tx,
  session: {
    readonly id: string
    readonly agent: string
    readonly adapter: string
    readonly workspace: string
    readonly vendorId?: string | undefined
    readonly adoptedFrom?: string | undefined
    readonly at: Date
  },
): Promise<void> {
  const { id, agent, adapter, workspace, vendorId = null, adoptedFrom = null, at } = session
  await sql`
    insert into pawl.sessions (id, agent, adapter, workspace, vendor_id, adopted_from, created_at, updated_at)
    values (${id}, ${agent}, ${adapter}, ${workspace}, ${vendorId}, ${adoptedFrom}, ${at}, ${at})
  `.execute(tx)
}

/** What its next tasks are to be done with. False if there is no such session. */
export async function setChoices(db: Db, session: string, choices: SessionChoices): Promise<boolean> {
  const { rows } =
    await sql`update pawl.sessions set choices = ${JSON.stringify(choices)}::jsonb where id = ${session} returning id`.execute(db)
  return rows.length === 1
}

export interface SessionFigures extends SessionRow {
  readonly task_count: number
  readonly last_task: string | null
  readonly last_state: TaskState | null
  readonly last_shortfall: Shortfall | null
  readonly last_change: Date
  readonly archived_bytes: number
  readonly title: string | null
  readonly open_questions: number
  readonly cost_usd: number | null
}

export interface SessionFilter {
  readonly id?: string | undefined
  readonly agent?: string | undefined
  /** Only older ones: ids sort by the time of their making. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Newest first, each with what its tasks and its archive amount to. */
export async function listSessions(db: Db, filter: SessionFilter): Promise<SessionFigures[]> {
  // Of one agent, the order begins with it: otherwise the planner may walk past the sessions of all others.
  const before =
    filter.agent === undefined ? sql`s.id < ${filter.before}` : sql`(s.agent, s.id) < (${filter.agent}, ${filter.before})`
  const { rows } = await sql<SessionFigures>`
    select s.*, last.id as last_task, last.state as last_state, last.shortfall as last_shortfall, greatest(s.updated_at, last.updated_at) as last_change,
      (select count(*) from pawl.tasks t where t.session_id = s.id) as task_count,
      (select coalesce(t.name, left(t.prompt, 200)) from pawl.tasks t where t.session_id = s.id order by t.created_at, t.id limit 1) as title,
      (select count(*) from pawl.tasks t join pawl.questions q on q.task_id = t.id where t.session_id = s.id and q.state = 'pending') as open_questions,
      (select sum(l.cost_usd)::float8 from pawl.tasks t join pawl.ledger l on l.task_id = t.id where t.session_id = s.id) as cost_usd,
      (select coalesce(sum(f.size), 0) from pawl.session_files f where f.session_id = s.id) as archived_bytes
    from pawl.sessions s
    left join lateral (select id, state, updated_at, ${shortfallColumn('t')} as shortfall from pawl.tasks t where t.session_id = s.id order by t.created_at desc, t.id desc limit 1) last on true
    where ${filter.id === undefined ? sql`true` : sql`s.id = ${filter.id}`}
      and ${filter.agent === undefined ? sql`true` : sql`s.agent >= ${filter.agent} and s.agent <= ${filter.agent}`}
      and ${filter.before === undefined ? sql`true` : before}
    order by ${filter.agent === undefined ? sql`` : sql`s.agent desc, `}s.id desc limit ${filter.limit}
  `.execute(db)
  return rows
}

/** The task of a session that runs now. There is at most one. */
export async function runningTask(db: Db, session: string): Promise<string | undefined> {
  const { rows } = await sql<{
    id: string
  }>`select id from pawl.tasks where session_id = ${session} and state = 'running'`.execute(db)
  return rows[0]?.id
}

/** An event of any task of a session. */
export interface SessionEvent {
  readonly id: number
  readonly task: string
  readonly run: string | null
  readonly type: EventType
  readonly at: Date
  readonly data: unknown
}

/** The latest events of the given types before `before`, over all tasks of a session, the latest first. */
export async function latestEvents(
  db: Db | Tx,
  session: string,
  options: { types: readonly EventType[]; before: number; limit: number },
): Promise<SessionEvent[]> {
  const { rows } = await sql<SessionEvent>`
    select e.id, e.task_id as task, e.run_id as run, e.type, e.at, e.data from pawl.tasks t join pawl.events e on e.task_id = t.id
    where t.session_id = ${session} and e.type = any(${[...options.types]}::text[]) and e.id < ${options.before} order by e.id desc limit ${options.limit}
  `.execute(db)
  return rows
}

/** How many events of the given types lie before `before` and after the last one of type `since`. */
export async function countEvents(
  db: Db | Tx,
  session: string,
  options: { types: readonly EventType[]; before: number; since: EventType },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with of_session as (select e.id, e.type from pawl.tasks t join pawl.events e on e.task_id = t.id where t.session_id = ${session} and e.id < ${options.before})
    select count(*) as count from of_session
    where type = any(${[...options.types]}::text[]) and id > coalesce((select max(id) from of_session where type = ${options.since}), 0)
  `.execute(db)
  return rows[0]?.count ?? 0
}

/** What the tasks of a session were asked to do. */
export async function promptsOf(db: Db | Tx, tasks: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{
    id: string
    prompt: string
  }>`select id, prompt from pawl.tasks where id = any(${[...tasks]}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row.prompt]))
}
