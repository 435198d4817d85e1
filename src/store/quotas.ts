import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'

/** Counts one task of a user on a day, unless that would be more than `most`; false then. Two who ask at once come one after the other. */
export async function takeQuota(tx: Tx, user: string, day: string, most: number): Promise<boolean> {
  const { rows } = await sql`
    insert into pawl.quotas as q (user_name, day, tasks) select ${user}, ${day}::date, 1 where ${most}::int > 0
    on conflict (user_name, day) do update set tasks = q.tasks + 1 where q.tasks < ${most}
    returning tasks
  `.execute(tx)
  return rows.length === 1
}

/** Counts of days before one, which nobody asks for any more. */
export async function forgetQuotas(db: Db, before: string): Promise<void> {
  await sql`delete from pawl.quotas where day < ${before}::date`.execute(db)
}
