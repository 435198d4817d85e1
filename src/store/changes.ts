import { sql } from 'kysely'
import type { ChangedFile } from '../domain/view/changes.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'

/** What a run changed in its workspace, as it is stored when the run ends. */
export interface RunChanged {
  readonly state: 'nothing' | 'files' | 'unknown'
  /** Earlier runs that were cut off: what they changed is in here. */
  readonly covers: readonly string[]
  /** Why it is not known, or not all of it. */
  readonly why?: string | undefined
  readonly files: readonly ChangedFile[]
  /** One for each file, in the same order. */
  readonly patches: readonly string[]
  readonly fileCount: number
  readonly added: number
  readonly removed: number
}

export const noChanges = { covers: [], files: [], patches: [], fileCount: 0, added: 0, removed: 0 } as const
export const unknownChanges = { ...noChanges, state: 'unknown' } as const

export interface ChangesRow {
  run_id: string
  task_id: string
  covers: string[]
  why: string | null
  files: ChangedFile[]
  patches: string[]
  file_count: number
  added: number
  removed: number
}

/** In the transaction that ends the run. Nothing is asked of the database for a run that changed nothing. */
export async function insertChanges(tx: Tx, run: { id: string; taskId: string }, changed: RunChanged): Promise<void> {
  if (changed.state === 'nothing' && changed.covers.length === 0) return
  const patches = changed.patches.map(storableText)
  await sql`
    insert into pawl.run_changes (run_id, task_id, covers, why, files, patches, file_count, added, removed)
    values (${run.id}, ${run.taskId}, ${[...changed.covers]}::text[], ${changed.why === undefined ? null : storableText(changed.why)},
      ${jsonText(changed.files)}::jsonb, ${patches}::text[], ${changed.fileCount}, ${changed.added}, ${changed.removed})
    on conflict (run_id) do nothing
  `.execute(tx)
}

/** Without the differences themselves. */
export async function changesOfTask(db: Db, task: string): Promise<Omit<ChangesRow, 'patches'>[]> {
  return db
    .selectFrom('pawl.run_changes')
    .select(['run_id', 'task_id', 'covers', 'why', 'files', 'file_count', 'added', 'removed'])
    .where('task_id', '=', task)
    .execute()
}

/** With them, in the order of the runs; of one run if it is named. */
export async function patchesOfTask(
  db: Db,
  task: string,
  run: string | undefined,
): Promise<Pick<ChangesRow, 'run_id' | 'files' | 'patches'>[]> {
  const { rows } = await sql<Pick<ChangesRow, 'run_id' | 'files' | 'patches'>>`
    select c.run_id, c.files, c.patches from pawl.run_changes c join pawl.runs r on r.id = c.run_id
    where c.task_id = ${task} and (${run ?? null}::text is null or c.run_id = ${run ?? null}) order by r.fence
  `.execute(db)
  return rows
}

/** True if nobody has stored what any of these runs changed, nor will. */
export async function areChangesOpen(db: Db, runs: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ open: boolean }>`
    select count(*) = ${runs.length} as open from pawl.runs where id = any(${[...runs]}::text[]) and changes is null and state = 'ended'
  `.execute(db)
  return rows[0]?.open === true
}

/** Those runs of a task before one of its fences of which nobody has stored what they changed, nor will, the last one last; undefined if of another it is known, or if there are none. */
export async function openRunsBefore(db: Db, task: string, fence: number): Promise<readonly string[] | undefined> {
  const { rows } = await sql<{ id: string; open: boolean; known: boolean }>`
    select id, changes is null and state = 'ended' as open, changes is null and state <> 'ended' or changes <> 'unknown' as known
    from pawl.runs where task_id = ${task} and fence < ${fence} order by fence
  `.execute(db)
  const open = rows.filter((row) => row.open).map(({ id }) => id)
  return open.length === 0 || rows.some(({ known }) => known) ? undefined : open
}

/** When those of these tasks ended that have, and which are not there. */
export async function endsAmong(
  db: Db,
  tasks: readonly string[],
): Promise<{ ended: ReadonlyMap<string, Date>; deleted: ReadonlySet<string> }> {
  const { rows } = await sql<{
    id: string
    ended_at: Date | null
  }>`select id, ended_at from pawl.tasks where id = any(${[...tasks]}::text[])`.execute(db)
  const there = new Map(rows.map((row) => [row.id, row.ended_at]))
  return {
    ended: new Map(rows.flatMap(({ id, ended_at }) => (ended_at ? [[id, ended_at] as const] : []))),
    deleted: new Set(tasks.filter((id) => !there.has(id))),
  }
}

/** Those of these tasks that may still go on. */
export async function openAmong(db: Db, tasks: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    id: string
  }>`select id from pawl.tasks where id = any(${[...tasks]}::text[]) and ended_at is null`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
