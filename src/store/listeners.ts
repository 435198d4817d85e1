import { sql } from 'kysely'
import type { Role } from '../domain/auth/role.ts'
import type { TraceContext } from '../domain/base/trace-context.ts'
import { mostListeners, toldEvents } from '../domain/notification/listener.ts'
import type { Db, Tx } from './database.ts'
import type { ListenerRow } from './tables.ts'

export const isToldToListeners = (type: string): boolean => (toldEvents as readonly string[]).includes(type)

const types = sql.raw(toldEvents.map((type) => `'${type}'`).join(', '))

/**
 * A part of the statement that stores events: one row of the outbox for each of them and each listener of its task. Who listens stands in the locked head itself. The id is
 * made of what is told, so it is the same however often that is written.
 */
export const toldToListeners = sql`, told as (
      insert into pawl.outbox (id, target, kind, task_id, run_id, event, body, next_at, created_at)
      select 'n_' || left(encode(sha256(convert_to(l.id || ' ' || f.seq, 'UTF8')), 'hex'), 18), l.id, 'a2a', f.task, f.run, f.type,
        jsonb_build_object('seq', f.seq), f.at, f.at
      from fresh f join heads h on h.task_id = f.task and h.told is not null cross join lateral unnest(h.told) as l(id)
      where f.type in (${types}) order by f.task, f.seq
      returning id
    )`

/** A part of the statement that makes a task: who listens to it from its first event on. */
export const firstListeners = (rows: readonly ListenerRow[]) => sql`, listeners as (
      insert into pawl.task_listeners (id, task_id, user_name, name, url, wire, sealed, sender_key, standing, token_id, created_at)
      select l.id, task.id, l.user_name, l.name, l.url, l.wire, decode(l.sealed, 'base64'), l.sender_key, l.standing, l.token_id, l.created_at
      from task, jsonb_to_recordset(${JSON.stringify(rows.map((row) => ({ ...row, sealed: row.sealed.toString('base64') })))}::jsonb)
        as l(id text, user_name text, name text, url text, wire text, sealed text, sender_key text, standing text, token_id text, created_at timestamptz)
    )`

/** In place of the user's own of that name, which keeps its id. Undefined if the task has too many, or is gone. */
export async function putListener(tx: Tx, row: ListenerRow): Promise<ListenerRow | undefined> {
  // First, as every writer of events does: whatever is stored from now on is told.
  const head = await sql<{ told: string[] | null }>`
    select told from pawl.journal_heads where task_id = ${row.task_id} for update
  `.execute(tx)
  const told = head.rows[0]?.told ?? []
  const { rows } = await sql<ListenerRow>`
    insert into pawl.task_listeners as l (id, task_id, user_name, name, url, wire, sealed, sender_key, standing, token_id, created_at)
    select ${row.id}, h.task_id, ${row.user_name}, ${row.name}, ${row.url}, ${row.wire}, ${row.sealed}, ${row.sender_key}, ${row.standing}, ${row.token_id}, ${row.created_at}
    from pawl.journal_heads h where h.task_id = ${row.task_id} and (${told.length < mostListeners}
      or exists (select from pawl.task_listeners o where o.task_id = h.task_id and o.user_name = ${row.user_name} and o.name = ${row.name}))
    on conflict (task_id, user_name, name) do update
      set url = excluded.url, wire = excluded.wire, sealed = excluded.sealed, sender_key = excluded.sender_key,
        standing = excluded.standing, token_id = excluded.token_id
    returning *
  `.execute(tx)
  const [kept] = rows
  if (kept && !told.includes(kept.id))
    await sql`update pawl.journal_heads set told = ${[...told, kept.id]}::text[] where task_id = ${row.task_id}`.execute(tx)
  return kept
}

/** What was not told yet goes with it. False if there is none. */
export async function removeListener(tx: Tx, task: string, user: string, name: string): Promise<boolean> {
  await sql`select from pawl.journal_heads where task_id = ${task} for update`.execute(tx)
  const { rows } = await sql<{ id: string }>`
    delete from pawl.task_listeners where task_id = ${task} and user_name = ${user} and name = ${name} returning id
  `.execute(tx)
  const [gone] = rows
  if (!gone) return false
  await sql`
    update pawl.journal_heads set told = nullif(array_remove(told, ${gone.id}), '{}') where task_id = ${task}
  `.execute(tx)
  await sql`delete from pawl.outbox where target = ${gone.id} and task_id = ${task} and state in ('pending', 'dead')`.execute(tx)
  return true
}

/** Those of one user, oldest first. */
export async function listenersOf(
  db: Db,
  { task, user, after, limit }: { task: string; user: string; after?: string | undefined; limit: number },
): Promise<ListenerRow[]> {
  let found = db.selectFrom('pawl.task_listeners').selectAll().where('task_id', '=', task).where('user_name', '=', user)
  if (after !== undefined) found = found.where('id', '>', after)
  return found.orderBy('id').limit(limit).execute()
}

export async function findListener(db: Db, task: string, user: string, name: string): Promise<ListenerRow | undefined> {
  const found = db.selectFrom('pawl.task_listeners').selectAll().where('task_id', '=', task)
  return found.where('user_name', '=', user).where('name', '=', name).executeTakeFirst()
}

export interface LivingListener {
  readonly role: Role
  /** Whose trace its task belongs to. */
  readonly root: string
  readonly trace: TraceContext | null
}

/** One whose user may still come in, with what that user may do now. A token that was revoked ends what it asked for; one that has merely run out does not. */
export async function livingListener(db: Db, id: string): Promise<(ListenerRow & LivingListener) | undefined> {
  const { rows } = await sql<ListenerRow & LivingListener>`
    select l.*, u.role, w.root_id as root, w.spec -> 'trace' as trace
    from pawl.task_listeners l join pawl.tasks w on w.id = l.task_id join pawl.users u on u.name = l.user_name left join pawl.tokens t on t.id = l.token_id
    where l.id = ${id} and not u.is_disabled and t.revoked_at is null
  `.execute(db)
  return rows[0]
}
