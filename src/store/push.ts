import { sql } from 'kysely'
import type { Role } from '../domain/auth/role.ts'
import type { Db, Tx } from './database.ts'
import type { PushRow } from './tables.ts'

/** How many browsers one user may have: who has more has forgotten some. */
export const mostPerUser = 20

/** One browser has one subscription: asked for again, it is the same with the new wishes, for whoever is signed in there now. Undefined if the user has too many. */
export async function upsertPush(db: Db | Tx, push: PushRow): Promise<PushRow | undefined> {
  const { rows } = await sql<PushRow>`
    insert into pawl.push_subscriptions as s (id, user_name, token_id, endpoint, p256dh, auth, sender_key, events, label, created_at)
    select ${push.id}, ${push.user_name}, ${push.token_id}, ${push.endpoint}, ${push.p256dh}, ${push.auth}, ${push.sender_key}, ${push.events}::text[], ${push.label}, ${push.created_at}
    where exists (select from pawl.push_subscriptions o where o.endpoint = ${push.endpoint})
      or (select count(*) from pawl.push_subscriptions o where o.user_name = ${push.user_name}) < ${mostPerUser}
    on conflict (endpoint) do update set user_name = excluded.user_name, token_id = excluded.token_id, p256dh = excluded.p256dh, auth = excluded.auth,
      sender_key = excluded.sender_key, events = excluded.events, label = excluded.label
    returning *
  `.execute(db)
  return rows[0]
}

export async function pushOfUser(db: Db, user: string): Promise<PushRow[]> {
  return db.selectFrom('pawl.push_subscriptions').selectAll().where('user_name', '=', user).orderBy('created_at').execute()
}

export async function findPush(db: Db, id: string): Promise<PushRow | undefined> {
  return db.selectFrom('pawl.push_subscriptions').selectAll().where('id', '=', id).executeTakeFirst()
}

/** What was not told yet goes with it. */
export async function removePush(db: Db | Tx, id: string): Promise<void> {
  await sql`
    with gone as (delete from pawl.push_subscriptions where id = ${id})
    delete from pawl.outbox where target = ${`browser ${id}`} and state = 'pending'
  `.execute(db)
}

/** Every browser whose user still may come in by the sign-in that asked for it, with what that user may do now. */
export async function livingPush(db: Db, now: Date): Promise<(PushRow & { role: Role; tokenRole: Role | null })[]> {
  const { rows } = await sql<PushRow & { role: Role; tokenRole: Role | null }>`
    select s.*, u.role, t.role as "tokenRole"
    from pawl.push_subscriptions s join pawl.users u on u.name = s.user_name left join pawl.tokens t on t.id = s.token_id
    where not u.is_disabled and (s.token_id is null or (t.revoked_at is null and (t.expires_at is null or t.expires_at > ${now})
      and not exists (select from pawl.tokens a where a.id = t.asked_by and (a.revoked_at is not null or a.expires_at <= ${now}))))
    order by s.id
  `.execute(db)
  return rows
}
