import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'

export interface KeyRow {
  key: string
  body_hash: string
  task_id: string
  created_at: Date
}

/** Remembers what was done with a key; one that is taken stays as it is. */
export async function keepKey(tx: Tx, { key, body_hash, task_id, created_at }: KeyRow): Promise<void> {
  await sql`
    insert into pawl.idempotency_keys (key, body_hash, task_id, created_at) values (${key}, ${body_hash}, ${task_id}, ${created_at})
    on conflict (key) do nothing
  `.execute(tx)
}

/** In the order in which they came. */
export async function keysOfTask(db: Db, task: string): Promise<KeyRow[]> {
  const { rows } = await sql<KeyRow>`
    select key, body_hash, task_id, created_at from pawl.idempotency_keys where task_id = ${task} order by created_at, key
  `.execute(db)
  return rows
}
