import { sql } from 'kysely'
import type { ScheduleState, TaskTemplate, TickState } from '../domain/schedule/schedule.ts'
import { ended, type TaskState } from '../domain/task/task.ts'
import type { Db, Tx } from './database.ts'
import { jsonText } from './events.ts'
import type { ScheduleRow, TickRow } from './tables.ts'

/** False if another has the name. */
export async function insertSchedule(tx: Tx, row: ScheduleRow): Promise<boolean> {
  const { rows } = await sql`
    insert into pawl.schedules (id, name, state, timing, since, task, session_mode, session_id, overlap, catch_up, jitter_ms, next_due_at, next_at, last_due_at, user_name, standing, source, created_at, updated_at)
    values (${row.id}, ${row.name}, ${row.state}, ${jsonText(row.timing)}::jsonb, ${row.since}, ${jsonText(row.task)}::jsonb, ${row.session_mode}, ${row.session_id}, ${row.overlap}, ${row.catch_up}, ${row.jitter_ms},
      ${row.next_due_at}, ${row.next_at}, ${row.last_due_at}, ${row.user_name}, ${row.standing}, ${row.source}, ${row.created_at}, ${row.updated_at})
    on conflict (name) do nothing returning id
  `.execute(tx)
  return rows.length === 1
}

/** Everything that can change of one. The name of another is refused by the database itself (23505). */
export async function updateSchedule(tx: Tx, row: ScheduleRow): Promise<void> {
  await sql`
    update pawl.schedules set name = ${row.name}, state = ${row.state}, timing = ${jsonText(row.timing)}::jsonb, since = ${row.since}, task = ${jsonText(row.task)}::jsonb,
      session_mode = ${row.session_mode}, session_id = ${row.session_id}, overlap = ${row.overlap}, catch_up = ${row.catch_up}, jitter_ms = ${row.jitter_ms},
      next_due_at = ${row.next_due_at}, next_at = ${row.next_at}, last_due_at = ${row.last_due_at}, user_name = ${row.user_name}, standing = ${row.standing}, updated_at = ${row.updated_at}
    where id = ${row.id}
  `.execute(tx)
}

/** Its history goes with it; tasks that it made stay. */
export async function deleteSchedule(tx: Tx, id: string): Promise<void> {
  await sql`delete from pawl.schedules where id = ${id}`.execute(tx)
}

export async function findSchedule(db: Db | Tx, idOrName: string): Promise<ScheduleRow | undefined> {
  const { rows } = await sql<ScheduleRow>`
    select * from pawl.schedules where id = ${idOrName} or name = ${idOrName} limit 1
  `.execute(db)
  return rows[0]
}

/** As it is now, and so until the transaction ends. */
export async function lockSchedule(tx: Tx, id: string): Promise<ScheduleRow | undefined> {
  const { rows } = await sql<ScheduleRow>`select * from pawl.schedules where id = ${id} for update`.execute(tx)
  return rows[0]
}

export async function schedulesOf(db: Db | Tx, filter: { source?: string } = {}): Promise<ScheduleRow[]> {
  const { rows } = await sql<ScheduleRow>`
    select * from pawl.schedules where ${filter.source === undefined ? sql`true` : sql`source = ${filter.source}`}
    order by state, next_at nulls last, created_at, id
  `.execute(db)
  return rows
}

/** The next one that is to be fired, held until the transaction ends. One that somebody else holds is theirs to fire. */
export async function lockDue(tx: Tx, now: Date): Promise<ScheduleRow | undefined> {
  const { rows } = await sql<ScheduleRow>`
    select * from pawl.schedules where state = 'active' and next_at <= ${now} order by next_at, id limit 1 for update skip locked
  `.execute(tx)
  return rows[0]
}

/** When the next one is to be fired, and whether there is anything else to do about any. */
/** Clocks of machines that share a database differ by less than this. */
const correctedMs = 60_000

export async function lookAtSchedules(db: Db, { now, ahead }: { now: Date; ahead: Date }) {
  const { rows } = await sql<{ next_at: Date | null; is_due: boolean; has_idle: boolean; has_waiting: boolean; ahead: string[] }>`
    select min(next_at) as next_at, coalesce(bool_or(next_at <= ${now}), false) as is_due,
      coalesce(bool_or(timing->>'kind' = 'idle'), false) as has_idle,
      exists (select 1 from pawl.schedule_ticks where state = 'waiting') as has_waiting,
      coalesce(array_agg(id) filter (where (next_at is not null or timing->>'kind' = 'idle') and (greatest(last_due_at, updated_at) > ${ahead}
        or (timing->>'kind' = 'every' and next_due_at > ${now}::timestamptz + ((timing->>'everyMs')::numeric + ${correctedMs}) * interval '1 millisecond'))), '{}') as ahead
    from pawl.schedules where state = 'active'
  `.execute(db)
  return rows[0]!
}

/** A schedule that waits for a time of rest, with the last moment at which it or its agent had something to do; null while they have. */
export type Resting = ScheduleRow & { rest_since: Date | null }

/** Those that wait for a time of rest. One whose tick has not begun yet waits for that. */
export async function restingSince(db: Db | Tx, { now, id }: { now: Date; id?: string }): Promise<Resting[]> {
  const found: Resting[] = []
  // Such a schedule always names its agent.
  for (const [of, isIts] of [
    ['agent', sql`t.agent = coalesce(s.task->'agentConfig'->>'name', s.task->>'agent')`],
    ['session', sql`t.session_id = s.session_id`],
  ] as const) {
    const { rows } = await sql<Resting>`
      select s.*, case when
          exists (select 1 from pawl.tasks t where t.state = 'queued' and ${isIts})
          or exists (select 1 from pawl.tasks t where t.state = 'running' and ${isIts})
          or exists (select 1 from pawl.tasks t where t.state in ('created', 'parked') and ${isIts})
        then null else greatest(s.since, s.last_due_at, last.ended_at) end as rest_since
      from pawl.schedules s
      left join lateral (
        select t.ended_at from pawl.tasks t where t.ended_at is not null and t.ended_at <= ${now} and ${isIts} order by t.ended_at desc limit 1
      ) last on true
      where s.state = 'active' and s.timing->>'kind' = 'idle' and s.timing->>'of' = ${of} and ${id === undefined ? sql`true` : sql`s.id = ${id}`}
        and not exists (select 1 from pawl.schedule_ticks k where k.schedule_id = s.id and k.state = 'waiting')
    `.execute(db)
    found.push(...rows)
  }
  return found
}

/** Tasks of its ticks that have work left; what waits for a person's look has none. */
export async function openTasks(db: Db | Tx, schedule: string): Promise<{ id: string; state: TaskState }[]> {
  const { rows } = await sql<{ id: string; state: TaskState }>`
    select id, state from pawl.tasks where schedule_id = ${schedule} and ended_at is null and state <> all(${['review', ...ended]}::text[]) order by created_at, id
  `.execute(db)
  return rows
}

export interface TickToInsert {
  readonly schedule: string
  readonly due: Date
  readonly state: TickState
  readonly detail?: string | undefined
  readonly isManual?: boolean
  readonly request?: TaskTemplate | undefined
  readonly at: Date
}

/** False if there is a tick of that moment already. */
export async function insertTick(tx: Tx, tick: TickToInsert): Promise<boolean> {
  const { rows } = await sql`
    insert into pawl.schedule_ticks (schedule_id, due_at, state, detail, is_manual, request, fired_at, ended_at)
    values (${tick.schedule}, ${tick.due}, ${tick.state}, ${tick.detail ?? null}, ${tick.isManual ?? false}, ${tick.request ? jsonText(tick.request) : null}::jsonb, ${tick.at}, ${tick.state === 'waiting' ? null : tick.at})
    on conflict do nothing returning due_at
  `.execute(tx)
  return rows.length === 1
}

export type WaitingTick = TickRow & {
  request: TaskTemplate
  overlap: ScheduleRow['overlap']
  session_id: string | null
  user_name: string
  standing: ScheduleRow['standing']
  schedule_name: string | null
}

/** Ticks whose task is not made yet: of each schedule the oldest. */
export async function waitingTicks(db: Db, schedule?: string): Promise<WaitingTick[]> {
  const { rows } = await sql<WaitingTick>`
    select distinct on (k.schedule_id) k.*, s.overlap, s.session_id, s.user_name, s.standing, s.name as schedule_name
    from pawl.schedule_ticks k join pawl.schedules s on s.id = k.schedule_id
    where k.state = 'waiting' and (s.state <> 'paused' or k.is_manual) and ${schedule === undefined ? sql`true` : sql`k.schedule_id = ${schedule}`}
    order by k.schedule_id, k.due_at limit 500
  `.execute(db)
  return rows
}

export async function countWaiting(tx: Tx, schedule: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pawl.schedule_ticks where schedule_id = ${schedule} and state = 'waiting'
  `.execute(tx)
  return rows[0]!.count
}

/** Ticks that a newer one, or a pause, makes needless before they have begun. */
export async function skipWaiting(
  tx: Tx,
  schedule: string,
  { detail, at, manualToo }: { detail: string; at: Date; manualToo: boolean },
): Promise<void> {
  await sql`
    update pawl.schedule_ticks set state = 'skipped', detail = ${detail}, request = null, ended_at = ${at}
    where schedule_id = ${schedule} and state = 'waiting' and (not is_manual or ${manualToo})
  `.execute(tx)
}

/** Was a tick left out after all? */
export async function isSkipped(db: Db | Tx, { schedule, due }: { schedule: string; due: Date }): Promise<boolean> {
  const { rows } = await sql`
    select from pawl.schedule_ticks where schedule_id = ${schedule} and due_at = ${due} and state = 'skipped'
  `.execute(db)
  return rows.length === 1
}

/** The task of a tick is made. False if the tick is gone or somebody else has said so already. */
export async function startTick(tx: Tx, tick: { schedule: string; due: Date; task: string; session: string }): Promise<boolean> {
  const { rows } = await sql`
    update pawl.schedule_ticks set state = 'running', task_id = ${tick.task}, request = null, detail = null
    where schedule_id = ${tick.schedule} and due_at = ${tick.due} and state = 'waiting' returning due_at
  `.execute(tx)
  if (rows.length === 0) return false
  await sql`update pawl.schedules set session_id = ${tick.session} where id = ${tick.schedule} and session_mode = 'keep'`.execute(
    tx,
  )
  return true
}

/** A tick that cannot have its task, for good or for now. */
export async function refuseTick(
  tx: Tx,
  tick: { schedule: string; due: Date; detail: string; at: Date; isFinal: boolean },
): Promise<void> {
  await sql`
    update pawl.schedule_ticks set detail = ${tick.detail}, refused_at = coalesce(refused_at, ${tick.at}),
      ${tick.isFinal ? sql`state = 'failed', request = null, ended_at = ${tick.at}` : sql`state = 'waiting'`}
    where schedule_id = ${tick.schedule} and due_at = ${tick.due} and state = 'waiting'
  `.execute(tx)
}

/** What came of the task that a tick made. */
export async function endTick(tx: Tx, task: string, end: { state: TickState; detail: string | null; at: Date }): Promise<void> {
  await sql`
    update pawl.schedule_ticks set state = ${end.state}, detail = ${end.detail}, ended_at = ${end.at} where task_id = ${task}
  `.execute(tx)
}

const mostTicks = 100
const longestMs = 90 * 86_400_000

/** Of each schedule the last hundred ticks of ninety days are kept, and those that have not ended. */
export async function trimTicks(tx: Tx, schedule: string, now: Date): Promise<void> {
  await sql`
    delete from pawl.schedule_ticks k where k.schedule_id = ${schedule} and k.ended_at is not null and (
      k.fired_at < ${new Date(now.getTime() - longestMs)}
      or k.due_at < (select due_at from pawl.schedule_ticks where schedule_id = ${schedule} order by due_at desc offset ${mostTicks - 1} limit 1))
  `.execute(tx)
}

export type ToldTickRow = TickRow & { task_state: TaskState | null }

/** Newest first. */
export async function ticksOf(db: Db, schedules: readonly string[], most = mostTicks): Promise<Map<string, ToldTickRow[]>> {
  const { rows } = await sql<ToldTickRow>`
    select k.schedule_id, k.due_at, k.state, k.detail, k.is_manual, k.refused_at, k.task_id, k.fired_at, k.ended_at, null as request, t.state as task_state
    from unnest(${[...schedules]}::text[]) as s (id)
    cross join lateral (select * from pawl.schedule_ticks where schedule_id = s.id order by due_at desc limit ${most}) k
    left join pawl.tasks t on t.id = k.task_id
    order by k.schedule_id, k.due_at desc
  `.execute(db)
  return Map.groupBy(rows, (row) => row.schedule_id)
}

export async function countSchedules(db: Db): Promise<Partial<Record<ScheduleState, number>>> {
  const { rows } = await sql<{ state: ScheduleState; count: number }>`
    select state, count(*) as count from pawl.schedules group by state
  `.execute(db)
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
