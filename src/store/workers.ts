import { CompiledQuery, sql } from 'kysely'
import type { KillUnit } from '../sandbox/process/child.ts'
import { beatStatement } from './beat-statement.ts'
import type { Db, Tx } from './database.ts'
import type { WorkerRow } from './tables.ts'

export interface WorkerIdentity {
  readonly id: string
  readonly host: string
  readonly bootId: string
  readonly pid: number
  readonly startTime: string
}

export async function registerWorker(db: Db, worker: WorkerIdentity, at: Date): Promise<void> {
  await sql`
    insert into pawl.workers (id, host, boot_id, pid, start_time, started_at, seen_at)
    values (${worker.id}, ${worker.host}, ${worker.bootId}, ${worker.pid}, ${worker.startTime}, ${at}, ${at})
  `.execute(db)
}

export interface Held {
  readonly runs: readonly string[]
  /** The tasks among them that were asked to stop. */
  readonly cancelled: readonly string[]
}

/** Counts one beat and says what the worker still holds. Undefined: others have declared it dead. */
export async function beat(db: Db, worker: string, at: Date): Promise<Held | undefined> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(beatStatement, [worker, at]) as CompiledQuery<Held>)
  return rows[0]
}

export async function livingWorkers(db: Db): Promise<WorkerRow[]> {
  return db.selectFrom('pawl.workers').selectAll().where('ended_at', 'is', null).execute()
}

/** True if this call ended it; a second observer that comes to the same conclusion finds nothing left to do. */
export async function endWorker(db: Db | Tx, worker: string, { at, died }: { at: Date; died: boolean }): Promise<boolean> {
  const { rows } =
    await sql`update pawl.workers set ended_at = ${at}, died = ${died} where id = ${worker} and ended_at is null returning id`.execute(
      db,
    )
  return rows.length === 1
}

export interface Runner {
  readonly task_id: string
  readonly boot_id: string
  readonly pid: number
  readonly start_time: string
  /** When it was last known to live, by its own clock. */
  readonly seen_at: Date
  readonly ended_at: Date | null
}

/** The workers that these tasks run on, or that were to take them. */
export async function runnersOf(db: Db, tasks: readonly string[]): Promise<Runner[]> {
  const { rows } = await sql<Runner>`
    select t.id as task_id, w.boot_id, w.pid, w.start_time, coalesce(w.seen_at, w.started_at) as seen_at, w.ended_at
    from pawl.tasks t join pawl.runs r on r.task_id = t.id and r.fence = t.fence join pawl.workers w on w.id = coalesce(r.worker_id, r.admitted_by)
    where t.id = any(${[...tasks]}::text[]) and t.state = 'running'
  `.execute(db)
  return rows
}

export interface OpenRun {
  readonly run_id: string
  readonly task_id: string
  readonly fence: number
  readonly kill_unit: KillUnit | null
  readonly worker_id: string
  /** Where its worker was, whether that has died, and how long the run had lasted by its worker's last beat. */
  readonly host: string
  readonly died: boolean
  readonly lasted_ms: number
}

/** Runs that a worker left open. */
export async function runsOfWorker(db: Db, worker: string): Promise<OpenRun[]> {
  const { rows } = await sql<OpenRun>`
    select l.run_id, l.task_id, l.fence, r.kill_unit, l.worker_id, w.host, w.died,
      greatest(round(1000 * extract(epoch from w.seen_at - r.started_at)), 0)::float8 as lasted_ms
    from pawl.leases l join pawl.runs r on r.id = l.run_id join pawl.workers w on w.id = l.worker_id where l.worker_id = ${worker}
  `.execute(db)
  return rows
}

/** Workers that have ended and still hold something: a lease, a run they admitted, a task kept for them. It is what a reaper that dies half-way leaves. */
export async function orphanedWorkers(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct w.id from pawl.workers w join pawl.leases l on l.worker_id = w.id where w.ended_at is not null
    union select distinct r.admitted_by from pawl.runs r join pawl.workers w on w.id = r.admitted_by where r.state = 'admitted' and w.ended_at is not null
    union select distinct t.bound_to from pawl.tasks t join pawl.workers w on w.id = t.bound_to where t.bound_to is not null and w.ended_at is not null
  `.execute(db)
  return rows.map((row) => row.id)
}

/** Runs that a worker admitted and that nobody has taken: for itself alone, or for everybody, of whom there may be none. */
export async function strandedRuns(db: Db, worker: string): Promise<{ run_id: string; task_id: string; fence: number }[]> {
  const { rows } = await sql<{ run_id: string; task_id: string; fence: number }>`
    select r.id as run_id, r.task_id, r.fence from pawl.tasks t join pawl.runs r on r.task_id = t.id and r.fence = t.fence
    where r.admitted_by = ${worker} and r.state = 'admitted' and t.state = 'running'
  `.execute(db)
  return rows
}
