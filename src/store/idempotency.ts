import { sql } from 'kysely'
import type { Tx } from './database.ts'

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
