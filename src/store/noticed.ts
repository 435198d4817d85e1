import { sql } from 'kysely'
import type { Tx } from './database.ts'

/** Any number that no other program is likely to lock with. */
const lockKey = 7_295_004

export type Noticed = ReadonlyMap<string, string>

/** What was noticed last, by name. Held until the transaction ends: of two processes that see the same change one tells of it. */
export async function lastNoticed(tx: Tx, kind: string): Promise<Noticed> {
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(tx)
  const { rows } = await sql<{ name: string; digest: string }>`
    select name, digest from pawl.noticed where kind = ${kind}
  `.execute(tx)
  return new Map(rows.map(({ name, digest }) => [name, digest]))
}

export async function notice(tx: Tx, kind: string, now: Noticed, at: Date): Promise<void> {
  const entries = [...now].map(([name, digest]) => ({ name, digest }))
  await sql`
    with gone as (delete from pawl.noticed where kind = ${kind} and name <> all(${entries.map(({ name }) => name)}::text[]))
    insert into pawl.noticed (kind, name, digest, noticed_at)
    select ${kind}, i.name, i.digest, ${at} from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as i(name text, digest text)
    on conflict (kind, name) do update set digest = excluded.digest, noticed_at = excluded.noticed_at
  `.execute(tx)
}
