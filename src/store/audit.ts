import { sql } from 'kysely'
import type { AuditEntry } from '../domain/auth/audit.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'

/** Any number that no other program is likely to lock with. */
const lockKey = 7_295_003

/** Written in the transaction of the act it tells of: both are there, or neither. */
export async function insertAudit(tx: Db | Tx, entry: AuditEntry): Promise<void> {
  const { at, actor, via, action, subject } = storable(entry)
  await sql`
    insert into pawl.audit (at, actor, via, action, subject, detail) values (${at}, ${actor}, ${via}, ${action}, ${subject}, ${jsonText(entry.detail)}::jsonb)
  `.execute(tx)
}

/** The same as a part of a larger statement, for each row that `from` has. */
export function auditInsert(entry: AuditEntry, from: ReturnType<typeof sql>) {
  const { at, actor, via, action, subject } = storable(entry)
  return sql`insert into pawl.audit (at, actor, via, action, subject, detail)
    select ${at}, ${actor}, ${via}, ${action}, ${subject}, ${jsonText(entry.detail)}::jsonb from ${from}`
}

const storable = (entry: AuditEntry): AuditEntry => ({
  ...entry,
  actor: storableText(entry.actor),
  via: storableText(entry.via),
  subject: storableText(entry.subject),
})

export interface AuditRow {
  readonly id: number
  readonly at: Date
  readonly actor: string
  readonly via: string
  readonly action: string
  readonly subject: string
  readonly detail: Record<string, unknown>
  readonly seq: number
  readonly hash: Buffer
}
export type Unsealed = Omit<AuditRow, 'seq' | 'hash'>

/** Only one process at a time goes on with the chain. False if another does so now. */
export async function lockAudit(tx: Tx, { wait }: { wait: boolean }): Promise<boolean> {
  if (wait) {
    await sql`select pg_advisory_xact_lock(${lockKey})`.execute(tx)
    return true
  }
  const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${lockKey}) as taken`.execute(tx)
  return rows[0]?.taken === true
}

export async function findUnsealed(db: Db | Tx, limit: number): Promise<Unsealed[]> {
  const { rows } = await sql<Unsealed>`
    select id, at, actor, via, action, subject, detail from pawl.audit where seq is null order by id limit ${limit}
  `.execute(db)
  return rows
}

export async function findHead(db: Db | Tx): Promise<{ seq: number; hash: Buffer } | undefined> {
  const { rows } = await sql<{ seq: number; hash: Buffer }>`
    select seq, hash from pawl.audit where seq is not null order by seq desc limit 1
  `.execute(db)
  return rows[0]
}

export async function seal(tx: Tx, seals: readonly { id: number; seq: number; hash: Buffer }[]): Promise<void> {
  const [ids, seqs, hashes] = [seals.map(({ id }) => id), seals.map(({ seq }) => seq), seals.map(({ hash }) => hash)]
  await sql`
    update pawl.audit a set seq = s.seq, hash = s.hash
    from unnest(${ids}::bigint[], ${seqs}::bigint[], ${hashes}::bytea[]) as s(id, seq, hash) where a.id = s.id
  `.execute(tx)
}

/** Sealed entries in their order. */
export async function readAudit(db: Db, options: { after: number; limit: number }): Promise<AuditRow[]> {
  const { rows } = await sql<AuditRow>`
    select * from pawl.audit where seq > ${options.after} order by seq limit ${options.limit}
  `.execute(db)
  return rows
}

/** The newest first. */
export async function listAudit(
  db: Db,
  filter: { before?: number | undefined; limit: number; actor?: string | undefined; action?: string | undefined },
): Promise<AuditRow[]> {
  const { rows } = await sql<AuditRow>`
    select * from pawl.audit where seq is not null and ${filter.before === undefined ? sql`true` : sql`seq < ${filter.before}`}
      and ${filter.actor === undefined ? sql`true` : sql`actor = ${filter.actor}`}
      and ${filter.action === undefined ? sql`true` : sql`action = ${filter.action}`}
    order by seq desc limit ${filter.limit}
  `.execute(db)
  return rows
}
