import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'

/** That nothing is admitted, since when, by whom and why. */
export interface Halt {
  readonly at: Date
  readonly halted_by: string
  readonly reason: string | null
}

export async function findHalt(db: Db | Tx): Promise<Halt | undefined> {
  const { rows } = await sql<Halt>`select at, halted_by, reason from pawl.halt where is_set`.execute(db)
  return rows[0]
}

/** The first one stands. */
export async function insertHalt(tx: Tx, halt: { at: Date; by: string; reason: string | null }): Promise<void> {
  await sql`insert into pawl.halt (at, halted_by, reason) values (${halt.at}, ${halt.by}, ${halt.reason}) on conflict do nothing`.execute(
    tx,
  )
}

export async function deleteHalt(tx: Tx): Promise<boolean> {
  const { rows } = await sql`delete from pawl.halt where is_set returning is_set`.execute(tx)
  return rows.length === 1
}

export async function runningTasks(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from pawl.tasks where state = 'running'`.execute(db)
  return rows.map((row) => row.id)
}
