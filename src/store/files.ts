import { sql } from 'kysely'
import type { Attachment } from '../domain/files/view.ts'
import type { Db, Tx } from './database.ts'

export interface UploadRow {
  id: string
  sha256: string
  name: string
  type: string
  size: number
  user_name: string
  created_at: Date
}

export interface ArtifactRow {
  id: string
  task_id: string
  run_id: string | null
  sha256: string
  name: string
  type: string
  size: number
  created_at: Date
}

export async function insertUpload(tx: Tx, row: UploadRow): Promise<void> {
  await sql`
    insert into pawl.uploads (id, sha256, name, type, size, user_name, created_at)
    values (${row.id}, ${row.sha256}, ${row.name}, ${row.type}, ${row.size}, ${row.user_name}, ${row.created_at})
  `.execute(tx)
}

/** The same file under the same name, of the same user: it is kept for as long again. Answers its id. */
export async function renewUpload(
  tx: Tx,
  { sha256, name, user_name, created_at }: Omit<UploadRow, 'id'>,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    update pawl.uploads set created_at = ${created_at}
    where id = (select id from pawl.uploads where sha256 = ${sha256} and name = ${name} and user_name = ${user_name} limit 1) returning id
  `.execute(tx)
  return rows[0]?.id
}

/** Those of them that there are and that came after the time. */
export async function findUploads(db: Db, ids: readonly string[], after: Date): Promise<UploadRow[]> {
  const { rows } = await sql<UploadRow>`
    select * from pawl.uploads where id = any(${[...ids]}::text[]) and created_at >= ${after}
  `.execute(db)
  return rows
}

export async function uploadedBytes(db: Db, user: string, after: Date): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(size), 0)::bigint as bytes from pawl.uploads where user_name = ${user} and created_at >= ${after}
  `.execute(db)
  return rows[0]?.bytes ?? 0
}

/** What the tasks of a session were given, by task. */
export async function attachmentsOfSession(db: Db, session: string): Promise<{ task: string; attachments: Attachment[] }[]> {
  const { rows } = await sql<{ task: string; attachments: Attachment[] }>`
    select id as task, spec->'attachments' as attachments from pawl.tasks
    where session_id = ${session} and spec ? 'attachments' order by created_at, id
  `.execute(db)
  return rows
}

export async function artifactsOfTask(db: Db | Tx, task: string): Promise<ArtifactRow[]> {
  const { rows } = await sql<ArtifactRow>`select * from pawl.artifacts where task_id = ${task} order by name`.execute(db)
  return rows
}

export async function findArtifact(db: Db, task: string, id: string): Promise<ArtifactRow | undefined> {
  const { rows } = await sql<ArtifactRow>`select * from pawl.artifacts where task_id = ${task} and id = ${id}`.execute(db)
  return rows[0]
}

export async function countArtifacts(db: Db, task: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from pawl.artifacts where task_id = ${task}`.execute(db)
  return rows[0]?.count ?? 0
}

/** In the place of what the task left under the same name before. */
export async function putArtifact(tx: Tx, row: ArtifactRow): Promise<void> {
  await sql`
    insert into pawl.artifacts (id, task_id, run_id, sha256, name, type, size, created_at)
    values (${row.id}, ${row.task_id}, ${row.run_id}, ${row.sha256}, ${row.name}, ${row.type}, ${row.size}, ${row.created_at})
    on conflict (task_id, name) do update set id = excluded.id, run_id = excluded.run_id, sha256 = excluded.sha256, type = excluded.type,
      size = excluded.size, created_at = excluded.created_at
  `.execute(tx)
}

/** True if the run is the task's current one; nobody settles it until the transaction ends. */
export async function holdRun(tx: Tx, run: { task: string; fence: number }): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pawl.tasks where id = ${run.task} and fence = ${run.fence} and state = 'running' for share
  `.execute(tx)
  return rows.length === 1
}

/** Which of these tasks there are. */
export async function tasksThere(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select id from pawl.tasks where id = any(${[...ids]}::text[])`.execute(db)
  return new Set(rows.map((row) => row.id))
}
