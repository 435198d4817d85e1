import { sql } from 'kysely'
import type { Role } from '../domain/auth/role.ts'
import type { TokenKind } from '../domain/auth/token.ts'
import type { Db, Tx } from './database.ts'
import type { TokenRow } from './tables.ts'

export interface TokenToInsert {
  readonly id: string
  readonly hash: Buffer
  readonly user: string
  readonly kind: TokenKind
  readonly role: Role | null
  readonly name: string | null
  readonly task: string | null
  readonly run: string | null
  readonly askedBy: string | null
  readonly at: Date
  readonly by: string
  readonly expiresAt: Date | null
}

export async function insertToken(tx: Tx, token: TokenToInsert): Promise<TokenRow> {
  const { rows } = await sql<TokenRow>`
    insert into pawl.tokens (id, hash, user_name, kind, role, name, task_id, run_id, asked_by, created_at, created_by, expires_at)
    values (${token.id}, ${token.hash}, ${token.user}, ${token.kind}, ${token.role}, ${token.name}, ${token.task}, ${token.run}, ${token.askedBy}, ${token.at}, ${token.by}, ${token.expiresAt})
    returning *
  `.execute(tx)
  return rows[0]!
}

/** A sign-in is good only while the token is that asked for it. */
const isGood = sql`t.revoked_at is null and not exists (select 1 from pawl.tokens a where a.id = t.asked_by and a.revoked_at is not null)`
/** Nothing lasts longer than the token that asked for it. */
const end = sql`least(t.expires_at, (select a.expires_at from pawl.tokens a where a.id = t.asked_by))`

/** What is known of whoever shows a token: the token, and its user as they are now. */
export interface Shown {
  readonly id: string
  readonly user_name: string
  readonly kind: TokenKind
  readonly role: Role | null
  readonly task_id: string | null
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
  readonly user_role: Role
}

/** Undefined for a token that opens nothing: unknown, revoked, of a user who is gone or disabled, or of a run that has ended. Expiry is the caller's to judge. */
export async function findShown(db: Db, hash: Buffer): Promise<Shown | undefined> {
  const { rows } = await sql<Shown>`
    select t.id, t.user_name, t.kind, t.role, t.task_id, ${end} as expires_at, t.last_used_at, u.role as user_role
    from pawl.tokens t join pawl.users u on u.name = t.user_name
    where t.hash = ${hash} and ${isGood} and not u.is_disabled
      and (t.run_id is null or exists (select 1 from pawl.runs r where r.id = t.run_id and r.state <> 'ended'))
  `.execute(db)
  return rows[0]
}

/** Spends a token that is good once; answers its user, or undefined if it was not there to be spent. */
export async function spendToken(
  tx: Tx,
  hash: Buffer,
  kind: TokenKind,
  { at, name }: { at: Date /** Only one that is called so. */; name?: string | undefined },
): Promise<Pick<TokenToInsert, 'id' | 'user' | 'role' | 'askedBy'> | undefined> {
  const { rows } = await sql<Pick<TokenToInsert, 'id' | 'user' | 'role' | 'askedBy'>>`
    update pawl.tokens t set revoked_at = ${at}, last_used_at = ${at} from pawl.users u
    where t.hash = ${hash} and t.kind = ${kind} and ${isGood} and ${end} > ${at} and u.name = t.user_name and not u.is_disabled
      and ${name === undefined ? sql`true` : sql`t.name = ${name}`}
    returning t.id, t.user_name as user, t.role, t.asked_by as "askedBy"
  `.execute(tx)
  return rows[0]
}

export async function touchToken(db: Db, id: string, at: Date): Promise<void> {
  await sql`update pawl.tokens set last_used_at = ${at} where id = ${id} and (last_used_at is null or last_used_at < ${at})`.execute(
    db,
  )
}

/** Answers it as it is afterwards; revoking twice keeps the first time. */
export async function revokeToken(tx: Tx, id: string, at: Date): Promise<TokenRow | undefined> {
  const { rows } = await sql<TokenRow>`
    update pawl.tokens set revoked_at = coalesce(revoked_at, ${at}) where id = ${id} returning *
  `.execute(tx)
  return rows[0]
}

export async function revokeTokensOf(tx: Tx, user: string, at: Date): Promise<void> {
  await sql`update pawl.tokens set revoked_at = ${at} where user_name = ${user} and revoked_at is null`.execute(tx)
}

/** Newest first; without those that can open nothing any more unless they are asked for. */
export async function listTokens(db: Db, filter: { user?: string | undefined; all: boolean; now: Date }): Promise<TokenRow[]> {
  const { rows } = await sql<TokenRow>`
    select t.* from pawl.tokens t
    where ${filter.user === undefined ? sql`true` : sql`user_name = ${filter.user}`}
      and ${filter.all ? sql`true` : sql`${isGood} and coalesce(${end} > ${filter.now}, true)`}
    order by t.created_at desc, t.id desc limit 1000
  `.execute(db)
  return rows
}

/** The run that a task is in now. */
export async function currentRun(db: Db | Tx, task: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select r.id from pawl.tasks t join pawl.runs r on r.task_id = t.id and r.fence = t.fence where t.id = ${task} and t.state = 'running' and r.state <> 'ended'
  `.execute(db)
  return rows[0]?.id
}

export async function findToken(db: Db | Tx, id: string): Promise<TokenRow | undefined> {
  return db.selectFrom('pawl.tokens').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Codes and sign-ins that ended before a time. Tokens that somebody made stay: the audit names them. */
export async function deleteSpent(db: Db, before: Date): Promise<void> {
  await sql`delete from pawl.tokens where kind in ('code', 'session') and expires_at < ${before}`.execute(db)
}
