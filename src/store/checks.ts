import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import { storableText } from './events.ts'

/** A check that was run. */
export interface RanCheck {
  readonly name: string
  readonly command: string
  readonly exitCode: number | null
  /** Why it did not come to an end of its own. */
  readonly why: string | null
  readonly outputDigest: string
  readonly treeBefore: string | null
  readonly tree: string | null
  readonly startedAt: Date
  readonly endedAt: Date
}

export interface CheckRow {
  task_id: string
  number: number
  /** Those that were run together have the same. */
  round: number
  run_id: string | null
  name: string
  command: string
  exit_code: number | null
  why: string | null
  output_digest: string
  tree_before: string | null
  tree: string | null
  /** Where the work was that it looked at. */
  folder: string
  started_at: Date
  ended_at: Date
  previous: string
  hash: string
}

export async function insertChecks(tx: Tx, rows: readonly CheckRow[]): Promise<void> {
  if (rows.length > 0)
    await tx
      .insertInto('pawl.checks')
      .values(rows.map((row) => ({ ...row, folder: storableText(row.folder) })))
      .execute()
}

/** The last link of a task's chain. Whoever goes on from it holds the task's row. */
export async function lastCheck(tx: Db | Tx, task: string): Promise<Pick<CheckRow, 'number' | 'round' | 'hash'> | undefined> {
  const { rows } = await sql<Pick<CheckRow, 'number' | 'round' | 'hash'>>`
    select number, round, hash from pawl.checks where task_id = ${task} order by number desc limit 1
  `.execute(tx)
  return rows[0]
}

export async function checksOfTask(db: Db | Tx, task: string): Promise<CheckRow[]> {
  return db.selectFrom('pawl.checks').selectAll().where('task_id', '=', task).orderBy('number').execute()
}
