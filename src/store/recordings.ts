import { sql } from 'kysely'
import type { Db } from './database.ts'

/** A recording of a run, with what says whose it is. */
export interface RecordingRow {
  run_id: string
  task_id: string
  agent: string
  user_name: string
  is_over: boolean
  calls: number
  bytes: number
  has_workspace: boolean
  stopped: string | null
  begun_at: Date
  ended_at: Date | null
  run_ended_at: Date | null
}

/** Before anything of it is written, so that nothing lies about that nobody knows of. */
export async function insertRecording(db: Db, run: string, at: Date): Promise<void> {
  await sql`insert into pawl.recordings (run_id, begun_at) values (${run}, ${at}) on conflict (run_id) do nothing`.execute(db)
}

export async function endRecording(
  db: Db,
  run: string,
  end: { calls: number; bytes: number; hasWorkspace: boolean; stopped?: string | undefined; at: Date },
): Promise<void> {
  await sql`
    update pawl.recordings set is_over = true, calls = ${end.calls}, bytes = ${end.bytes}, has_workspace = ${end.hasWorkspace},
      stopped = ${end.stopped ?? null}, ended_at = ${end.at}
    where run_id = ${run}
  `.execute(db)
}

const joined = sql`
  select c.*, r.task_id, r.agent, r.ended_at as run_ended_at, t.user_name
  from pawl.recordings c join pawl.runs r on r.id = c.run_id join pawl.tasks t on t.id = r.task_id`

/** Newest first. */
export async function listRecordings(db: Db, most: number): Promise<RecordingRow[]> {
  const { rows } = await sql<RecordingRow>`${joined} order by c.begun_at desc, c.run_id desc limit ${most}`.execute(db)
  return rows
}

export async function findRecording(db: Db, run: string): Promise<RecordingRow | undefined> {
  const { rows } = await sql<RecordingRow>`${joined} where c.run_id = ${run}`.execute(db)
  return rows[0]
}

export async function deleteRecording(db: Db, run: string): Promise<boolean> {
  const { rows } = await sql`delete from pawl.recordings where run_id = ${run} returning run_id`.execute(db)
  return rows.length === 1
}

/** What happened in a run, in order. */
export async function eventsOfRun(db: Db, run: string): Promise<{ type: string; data: unknown }[]> {
  const { rows } = await sql<{ type: string; data: unknown }>`
    select type, data from pawl.events where run_id = ${run} order by seq
  `.execute(db)
  return rows
}
