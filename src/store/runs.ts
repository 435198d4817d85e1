import { sql } from 'kysely'
import type { Usage } from '../domain/money/usage.ts'
import type { Profile } from '../domain/profile/profile.ts'
import type { Category, Outcome } from '../domain/run/outcome.ts'
import type { KillUnit } from '../sandbox/process/child.ts'
import type { Statements } from './at-once.ts'
import type { RunChanged } from './changes.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'
import type { RunRow, SessionRow, TaskRow } from './tables.ts'

/** Everything a worker needs to know about a run it has taken. */
export interface TakenRun {
  readonly run: RunRow
  readonly task: TaskRow
  readonly session: SessionRow
}

/**
 * Gives admitted runs to a worker: a lease each. A run that is no longer the task's current one (cancelled or lost meanwhile) is left out; its job is
 * spent all the same. Refuses a worker that others have declared dead: what it took now would be started again by them at once.
 */
export async function leaseRuns(
  tx: Statements,
  runs: readonly string[],
  options: { worker: string; at: Date },
): Promise<string[]> {
  const { rows } = await sql<{ living: number; ids: string[] }>`
    with living as materialized (
      select id from pawl.workers where id = ${options.worker} and ended_at is null for share
    ), taken as (
      update pawl.runs r set state = 'running', worker_id = ${options.worker}, started_at = ${options.at}
      from pawl.tasks t
      where r.id = any(${[...runs]}::text[]) and r.state = 'admitted' and t.id = r.task_id and t.state = 'running' and t.fence = r.fence and exists (select 1 from living)
      returning r.id, r.task_id, r.fence
    ), leased as (
      insert into pawl.leases (run_id, task_id, fence, worker_id) select id, task_id, fence, ${options.worker} from taken returning run_id
    )
    select (select count(*) from living) as living, array(select run_id from leased) as ids
  `.execute(tx)
  if (rows[0]?.living !== 1) throw new Error(`worker ${options.worker} was declared dead and may take nothing`)
  return rows[0].ids
}

export async function loadTaken(db: Statements, ids: readonly string[]): Promise<TakenRun[]> {
  // Asked by way of a sub-select, so that the server keeps one plan instead of making one for each number of runs.
  const chosen = sql`id = any(array(select unnest(${[...ids]}::text[])))`
  const [runs, tasks, sessions] = await Promise.all([
    sql<RunRow>`select * from pawl.runs where ${chosen}`.execute(db),
    sql<TaskRow>`select * from pawl.tasks where id = any(array(select task_id from pawl.runs where ${chosen}))`.execute(db),
    sql<SessionRow>`select * from pawl.sessions where id = any(array(select session_id from pawl.runs where ${chosen}))`.execute(
      db,
    ),
  ])
  return runs.rows.map((run) => ({
    run,
    task: tasks.rows.find((task) => task.id === run.task_id)!,
    session: sessions.rows.find((session) => session.id === run.session_id)!,
  }))
}

/**
 * What is to be ended if we die, and what the run is allowed, by what it says; the name is only how people call it. Written before the spawn, so that whoever comes after us can
 * end what we started. False if the run is no longer ours: then nothing is written.
 */
export async function recordStart(
  db: Statements,
  run: { id: string; fence: number },
  record: { unit: KillUnit; walls: string; enforced: boolean; resumed: boolean; profile: Profile; digest: string; at: Date },
): Promise<boolean> {
  const { profile, digest } = record
  const { rows } = await sql`
    with ours as materialized (
      select run_id from pawl.leases where run_id = ${run.id} and fence = ${run.fence}
    ), kept as (
      insert into pawl.profiles (digest, profile, first_used_at) select ${digest}, ${jsonText(profile)}::jsonb, ${record.at} from ours on conflict do nothing
    )
    update pawl.runs r set kill_unit = ${jsonText(record.unit)}::jsonb, walls = ${record.walls}, enforced = ${record.enforced}, resumed = ${record.resumed},
      profile = ${profile.name}, profile_digest = ${digest}
    from ours where r.id = ${run.id} and r.id = ours.run_id and r.state <> 'ended' returning r.id
  `.execute(db)
  return rows.length === 1
}

/** What holds each limit of a run, known once its walls stand. */
export async function recordHeldLimits(db: Db | Tx, run: { id: string }, held: Readonly<Record<string, string>>): Promise<void> {
  await sql`update pawl.runs set limits_held = ${jsonText(held)}::jsonb where id = ${run.id}`.execute(db)
}

/** What was in force for a run, under the name it had then; undefined for a run that never came so far. */
export async function profileOfRun(db: Db | Tx, run: string): Promise<{ profile: Profile; digest: string } | undefined> {
  const { rows } = await sql<{ name: string; profile: Profile; digest: string }>`
    select r.profile as name, p.profile, p.digest from pawl.runs r join pawl.profiles p on p.digest = r.profile_digest where r.id = ${run}
  `.execute(db)
  const found = rows[0]
  return found && { profile: { ...found.profile, name: found.name }, digest: found.digest }
}

export interface RunEnd {
  readonly outcome: Outcome
  readonly category?: Category | undefined
  readonly message?: string | undefined
  readonly text: string
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  readonly usage?: Usage | undefined
  readonly costUsd?: number | undefined
  /** A digest of what the run came to; the same for runs that end the same way. */
  readonly fingerprint?: string | undefined
  /** What it changed in its workspace; undefined if it never came so far. */
  readonly changes?: RunChanged | undefined
}

/** Ends the run once, gives its lease back and takes the journal from its fence. False if it was ended before. */
export async function endRun(tx: Statements, run: { id: string; taskId: string }, end: RunEnd, at: Date): Promise<boolean> {
  const { rows } = await sql`
    with ended as (
      update pawl.runs set state = 'ended', outcome = ${end.outcome}, category = ${end.category ?? null}, message = ${cleaned(end.message)}, text = ${cleaned(end.text)},
        exit_code = ${end.exitCode ?? null}, signal = ${end.signal ?? null}, usage = ${end.usage ? jsonText(end.usage) : null}::jsonb, cost_usd = ${end.costUsd ?? null}, fingerprint = ${end.fingerprint ?? null}, changes = ${end.changes?.state ?? null}, ended_at = ${at}
      where id = ${run.id} and state <> 'ended' returning id, task_id, fence
    ), freed as (
      delete from pawl.leases l using ended where l.run_id = ended.id
    ), closed as (
      update pawl.journal_heads h set fence = null from ended where h.task_id = ended.task_id and h.fence = ended.fence
    )
    select id from ended
  `.execute(tx)
  return rows.length === 1
}

const cleaned = (text: string | undefined) => (text === undefined ? null : storableText(text))

export async function sessionOfRun(db: Db, run: string): Promise<string | undefined> {
  const found = await db.selectFrom('pawl.runs').select('session_id').where('id', '=', run).executeTakeFirst()
  return found?.session_id
}

export async function runsOfTask(db: Db | Tx, task: string): Promise<RunRow[]> {
  return db.selectFrom('pawl.runs').selectAll().where('task_id', '=', task).orderBy('fence').execute()
}

/** Keeps a run that no worker has taken from being taken. False if it was taken, or is being taken now: whoever takes it holds the row. */
export async function withholdRun(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await sql`select id from pawl.runs where id = ${id} and state = 'admitted' for update skip locked`.execute(tx)
  return rows.length === 1
}

/** True if the conversation that the session goes on with was begun or named by this run. */
export async function hasNamedSession(tx: Tx, run: { id: string; sessionId: string }): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pawl.events e join pawl.sessions s on s.id = ${run.sessionId}
    where e.run_id = ${run.id} and e.run_no is not null and e.type = 'agent.session' and e.data ->> 'vendorId' = s.vendor_id limit 1
  `.execute(tx)
  return rows.length === 1
}

/** True if any run of the task has used a tool, as far as its program told. */
export async function toolsRan(db: Db, task: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pawl.events where task_id = ${task} and type = 'agent.tool_called' limit 1`.execute(db)
  return rows.length === 1
}

/** What the task has cost so far, over all its runs. */
export async function costOfTask(tx: Tx, task: string): Promise<number | null> {
  const { rows } = await sql<{
    cost: number | null
  }>`select sum(cost_usd) as cost from pawl.runs where task_id = ${task}`.execute(tx)
  return rows[0]?.cost ?? null
}

/** The same, as soon as a run hears of it: only while the run has its lease, because another may have the session by now. */
export async function learnVendorSession(
  db: Db,
  run: { id: string; fence: number; session_id: string },
  vendorId: string,
  at: Date,
): Promise<void> {
  const stored = storableText(vendorId)
  await sql`
    update pawl.sessions set vendor_id = ${stored}, updated_at = ${at}
    where id = ${run.session_id} and vendor_id is distinct from ${stored}
      and exists (select 1 from pawl.leases where run_id = ${run.id} and fence = ${run.fence})
  `.execute(db)
}

/** The program's own id of the conversation, as it came back last. */
export async function rememberVendorSession(db: Db | Tx, session: string, vendorId: string | null, at: Date): Promise<void> {
  const stored = vendorId === null ? null : storableText(vendorId)
  await sql`update pawl.sessions set vendor_id = ${stored}, updated_at = ${at} where id = ${session} and vendor_id is distinct from ${stored}`.execute(
    db,
  )
}

export async function findSession(db: Db | Tx, id: string): Promise<SessionRow | undefined> {
  return db.selectFrom('pawl.sessions').selectAll().where('id', '=', id).executeTakeFirst()
}
