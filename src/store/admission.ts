import { sql } from 'kysely'
import type { Suspect } from '../domain/task/suspect.ts'
import type { Statements } from './at-once.ts'
import { isChecking, isClosed, isDue, isServing, isToBePutOff, type Taker } from './cooldowns.ts'
import type { Db } from './database.ts'
import { inScope } from './suspects.ts'

/** Any number that no other program is likely to lock with. */
const lockKey = 7_295_002

export interface Candidate {
  readonly id: string
  readonly agent: string
  readonly session_id: string
  readonly workspace: string
  readonly fence: number
  readonly attempts: number
  readonly rank: number
  readonly suspect: Suspect | null
  readonly user_name: string
  /** How many more of this user may run; null for as many as there are slots. */
  readonly user_free: number | null
  readonly account: string
  /** Nobody has seen its account work again since it met a limit: one task of it may go, to see. */
  readonly is_probe: boolean
}

/** Whether a round could do anything: asked without a lock, because most of the time the answer is no. Whoever changes it later tells admission. */
export async function lookAround(db: Db, options: Taker & { running: number; now: Date }): Promise<Around> {
  const { now } = options
  const { rows } = await sql<Around>`
    select exists (select 1 from pawl.tasks t where ${isDue(now, options)}) as "hasDue",
      exists (select 1 from pawl.cooldowns c where (select true from pawl.tasks t where ${isToBePutOff(now)} limit 1)) as "hasCooling",
      exists (select 1 from pawl.cooldowns c where ${isServing(now)}) as "hasServing",
      exists (select 1 from pawl.tasks where state = 'queued') and not exists (select 1 from pawl.halt where is_set) as "hasQueued",
      (select count(*) from pawl.tasks where state = 'running') >= ${options.running} or exists (select 1 from pawl.halt where is_set) as "isFull"
  `.execute(db)
  return rows[0]!
}

export interface Around {
  readonly hasDue: boolean
  /** Somebody is queued whose account is at its limit. */
  readonly hasCooling: boolean
  /** An account works again, as the run shows that was let through to see. */
  readonly hasServing: boolean
  readonly hasQueued: boolean
  /** Also while all agents are stopped. */
  readonly isFull: boolean
}

/** Only one process at a time decides who runs next. Held until the transaction ends. */
export async function lockAdmission(tx: Statements): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(tx)
}

/**
 * The tasks that may start now, best rank first: per agent as many as it has free slots, whose session and workspace nobody uses and who are first in line
 * for both among those of their agent. The lanes are found by jumping through the index from one agent to the next, so a full lane of thousands costs nothing.
 * Who is first in line is asked as a value and not as an absence: that one the planner walks an index for, also while it takes a queue of thousands for empty.
 * Suspects are asked for apart: those that could start if nothing ran in their scope, for which it may have to be drained.
 */
export async function findCandidates(
  tx: Statements,
  options: {
    running: number
    perAgent: Readonly<Record<string, number>>
    shared: boolean
    worker: string
    now: Date
    suspects: boolean
  },
): Promise<Candidate[]> {
  /** What runs and takes a place. */
  const takes = (alias: 't' | 'o') =>
    sql`${sql.ref(`${alias}.state`)} = 'running'${options.suspects ? sql` and not ${inScope(alias, options)}` : sql``}`
  const mine = (alias: 't' | 'o') => {
    // A user whose slots are all taken, and an account that is at its limit, stand in nobody's way.
    return sql`${inScope(alias, options)} and ${sql.ref(`${alias}.user_name`)} <> all(array(select name from limited where free <= 0))
      and ${sql.ref(`${alias}.account`)} <> all(array(select account from cooling where not is_open))`
  }
  const { rows } = await sql<Candidate>`
    with recursive lanes as (
      (select agent from pawl.tasks where state = 'queued' order by agent limit 1)
      union all
      select (select t.agent from pawl.tasks t where t.state = 'queued' and t.agent > lanes.agent order by t.agent limit 1) from lanes where lanes.agent is not null
    ), running as materialized (
      select t.agent, count(*)::int as count from pawl.tasks t where ${takes('t')} group by t.agent
    ), spare as materialized (
      select greatest(${options.running}::int - coalesce(sum(count), 0)::int, 0) as slots from running
    ), limited as materialized (
      select u.name, u.slots - (select count(*)::int from pawl.tasks t where ${takes('t')} and t.user_name = u.name) as free
      from pawl.users u where u.slots is not null
    ), cooling as materialized (
      select c.account, not ${isClosed(options.now)} and not ${isChecking} as is_open from pawl.cooldowns c
    ), room as (
      select lanes.agent, least(spare.slots, (${JSON.stringify(options.perAgent)}::jsonb ->> lanes.agent)::int - coalesce(running.count, 0)) as free
      from spare cross join lanes left join running on running.agent = lanes.agent
      where lanes.agent is not null and not exists (select 1 from pawl.halt where is_set)
    )
    select c.*, (select free from limited where name = c.user_name) as user_free, exists (select 1 from cooling where cooling.account = c.account) as is_probe from room cross join lateral (
      select t.id, t.agent, t.session_id, t.workspace, t.fence, t.attempts, t.rank, t.suspect, t.user_name, t.account from pawl.tasks t
      where t.state = 'queued' and t.agent = room.agent and t.suspect is ${options.suspects ? sql`not null` : sql`null`} and ${mine('t')}
        and t.id = (select o.id from pawl.tasks o where o.state = 'queued' and o.workspace = t.workspace and o.agent = t.agent and ${mine('o')} order by o.rank, o.id limit 1)
        and t.id = (select o.id from pawl.tasks o where o.state = 'queued' and o.session_id = t.session_id and o.agent = t.agent and ${mine('o')} order by o.rank, o.id limit 1)
        and not exists (select 1 from pawl.tasks o where ${takes('o')} and (o.workspace = t.workspace or o.session_id = t.session_id))
      order by t.rank, t.id limit greatest(room.free, 0)
    ) c
    where room.free > 0
    order by c.rank, c.id limit (select slots from spare)
  `.execute(tx)
  return rows
}

export interface Admitted {
  readonly task: string
  readonly run: string
  readonly session: string
  readonly agent: string
  readonly fence: number
  readonly attempt: number
  /** Of a suspect: for how long it must be alone. */
  readonly aloneMs: number | null
}

/**
 * Moves the tasks to running under their next fence, creates their runs and hands each journal to the new fence. Answers those that were moved: one that was
 * cancelled since it was found is left alone. The head rows are locked in the order of their tasks, as everybody does. Tasks are found by their ids alone: a plain
 * `state = 'queued'` would send the planner through all that is queued.
 */
export async function admitTasks(
  tx: Statements,
  admitted: readonly Admitted[],
  options: { worker: string; at: Date },
): Promise<Admitted[]> {
  const { worker, at } = options
  const { rows } = await sql<{ task_id: string }>`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(admitted)}::jsonb) as i(task text, run text, session text, agent text, fence int, attempt int, "aloneMs" bigint)
    ), moved as (
      update pawl.tasks t set state = 'running', fence = i.fence, reason = null, updated_at = ${at}
      from input i where t.id = any(array(select task from input)) and t.id = i.task and coalesce(t.state, '') = 'queued' returning t.id
    ), locked as materialized (
      select h.task_id from pawl.journal_heads h where h.task_id = any(array(select id from moved)) order by h.task_id for update
    ), heads as (
      update pawl.journal_heads h set fence = i.fence from input i join locked on locked.task_id = i.task where h.task_id = i.task
    )
    insert into pawl.runs (id, task_id, session_id, fence, attempt, state, agent, alone_ms, alone, admitted_by, admitted_at)
    select i.run, i.task, i.session, i.fence, i.attempt, 'admitted', i.agent, i."aloneMs", i."aloneMs" is not null, ${worker}, ${at} from input i join moved on moved.id = i.task
    returning task_id
  `.execute(tx)
  const moved = new Set(rows.map((row) => row.task_id))
  return admitted.filter(({ task }) => moved.has(task))
}
