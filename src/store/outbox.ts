import { sql } from 'kysely'
import type { Notifiable, Notification, NotificationState } from '../domain/notification/notification.ts'
import type { Db, Tx } from './database.ts'
import { jsonText } from './events.ts'
import type { OutboxRow } from './tables.ts'

/** One event for one target, before it is known whether the task is one that the target wants to hear of. */
export interface ToTell {
  readonly id: string
  readonly target: string
  readonly kind: Notification['way']['kind']
  readonly task: string
  readonly run: string | undefined
  readonly event: Notifiable
  readonly data: unknown
  readonly agents: readonly string[] | undefined
  readonly tags: readonly string[] | undefined
  readonly at: Date
}

/** More than this of one task to one target is kept and not sent: an agent in a loop must not flood whoever listens. */
export const mostPerTask = 200

/** Writes what is wanted, in one statement; answers how many rows it made. */
export async function insertOutbox(tx: Tx, items: readonly ToTell[]): Promise<number> {
  const payload = items.map((item, n) => ({ ...item, n, at: item.at.toISOString(), run: item.run ?? null }))
  const tooMany = `More than ${mostPerTask} notifications of this task; not sent. Send it with: pawl notifications retry ID`
  const { rows } = await sql`
    insert into pawl.outbox (id, target, kind, task_id, run_id, event, body, state, next_at, last_error, created_at)
    select i.id, i.target, i.kind, t.id, i.run, i.event,
      jsonb_build_object('data', i.data, 'traced', jsonb_build_object('root', t.root_id, 'trace', t.spec->'trace'), 'question',
        (select jsonb_build_object('id', q.id, 'text', left(q.text, 4000), 'options', to_jsonb(q.options)) from pawl.questions q where q.id = i.data->>'questionId'),
        'task', jsonb_build_object(
        'id', t.id, 'name', t.name, 'state', t.state, 'agent', t.agent, 'tags', to_jsonb(t.tags), 'workspace', t.workspace, 'session', t.session_id,
        'parent', t.parent_id, 'prompt', left(t.prompt, 500),
        'result', case when jsonb_typeof(t.result) = 'object' then jsonb_build_object('outcome', t.result->'outcome', 'text', left(t.result->>'text', 4000),
          'verified', t.result->'verified', 'costUsd', t.result->'costUsd') end)),
      case when told.count < ${mostPerTask} then 'pending' else 'dead' end, i.at,
      case when told.count < ${mostPerTask} then null else ${tooMany} end, i.at
    from jsonb_to_recordset(${jsonText(payload)}::jsonb) as i(n int, id text, target text, kind text, task text, run text, event text, data jsonb,
      agents text[], tags text[], at timestamptz)
    join pawl.tasks t on t.id = i.task
    cross join lateral (select count(*) as count from pawl.outbox o where o.task_id = t.id and o.target = i.target) told
    where (i.agents is null or t.agent = any (i.agents)) and (i.tags is null or t.tags && i.tags)
    order by i.n
    returning id
  `.execute(tx)
  return rows.length
}

/** Which rows are claimed together: those of one target, or of all the listeners whose key the worker has. */
export type Line = { readonly target: string } | { readonly senderKey: string }

const isOf = (line: Line) =>
  'target' in line
    ? sql`target = ${line.target}`
    : sql`kind = 'a2a' and exists (select from pawl.task_listeners l where l.id = target and l.sender_key = ${line.senderKey})`

/** What this worker is to send now, oldest first. Of one task and target only the first that is not sent: order is kept. */
export async function claimOutbox(
  db: Db,
  line: Line,
  { worker, now, latest, limit }: { worker: string; now: Date; latest: Date; limit: number },
): Promise<OutboxRow[]> {
  // Nothing is ever put off beyond "latest": what waits longer was put off by a clock that has been set back since.
  const { rows } = await sql<OutboxRow>`
    update pawl.outbox o set state = 'sending', attempts = attempts + 1, claimed_by = ${worker}
    where o.id in (
      select c.id from pawl.outbox c
      where ${isOf(line)} and c.state = 'pending' and (c.next_at <= ${now} or c.next_at > ${latest})
        and not exists (select from pawl.outbox e where e.target = c.target and e.task_id = c.task_id and e.no < c.no and e.state in ('pending', 'sending'))
      order by c.no limit ${limit} for update skip locked
    )
    returning o.*
  `.execute(db)
  return rows.sort((one, other) => one.no - other.no)
}

/** What the dead were sending is to be sent again; answers how many there were. */
export async function releaseOutbox(db: Db, now: Date): Promise<number> {
  const { rows } = await sql`
    update pawl.outbox o set state = 'pending', claimed_by = null, next_at = ${now}
    where o.state = 'sending' and not exists (select from pawl.workers w where w.id = o.claimed_by and w.ended_at is null)
    returning o.id
  `.execute(db)
  return rows.length
}

/** What a worker has claimed and does not send: it was never told that it had it, or could not even begin. */
export async function releaseStrays(
  db: Db,
  line: Line,
  { worker, sending, now }: { worker: string; sending: readonly string[]; now: Date },
): Promise<void> {
  await sql`
    update pawl.outbox set state = 'pending', claimed_by = null, next_at = ${now}
    where state = 'sending' and claimed_by = ${worker} and ${isOf(line)} and id <> all(${[...sending]}::text[])
  `.execute(db)
}

export type Tried =
  | { readonly state: 'sent'; readonly at: Date }
  | { readonly state: 'pending'; readonly nextAt: Date; readonly error: string; readonly isFree?: true }
  | { readonly state: 'dead'; readonly error: string }

/** False if it is not this worker's any more, or its task was deleted. */
export async function settleOutbox(tx: Tx, id: string, worker: string, tried: Tried): Promise<boolean> {
  const { rows } = await sql`
    update pawl.outbox set state = ${tried.state}, claimed_by = null,
      attempts = attempts - ${tried.state === 'pending' && tried.isFree ? 1 : 0},
      last_error = ${tried.state === 'sent' ? null : tried.error},
      sent_at = ${tried.state === 'sent' ? tried.at : null},
      next_at = ${tried.state === 'pending' ? tried.nextAt : sql`next_at`}
    where id = ${id} and state = 'sending' and claimed_by = ${worker}
    returning id
  `.execute(tx)
  return rows.length === 1
}

/** Has what was left alone, or waits, sent now. Answers their ids. */
export async function retryOutbox(
  tx: Tx,
  which: { id?: string | undefined; target?: string | undefined },
  now: Date,
): Promise<string[]> {
  const byId = which.id === undefined ? sql`state = 'dead'` : sql`id = ${which.id} and state in ('dead', 'pending')`
  const byTarget = which.target === undefined ? sql`` : sql`and target = ${which.target}`
  const { rows } = await sql<{ id: string }>`
    update pawl.outbox set state = 'pending', attempts = 0, next_at = ${now} where ${byId} ${byTarget} returning id
  `.execute(tx)
  return rows.map(({ id }) => id)
}

export interface OutboxFilter {
  readonly state?: NotificationState | undefined
  readonly target?: string | undefined
  readonly task?: string | undefined
  readonly limit: number
  /** Only those before this number. */
  readonly before?: number | undefined
}

/** Newest first. */
export async function listOutbox(db: Db, filter: OutboxFilter): Promise<OutboxRow[]> {
  let found = db.selectFrom('pawl.outbox').selectAll().orderBy('no', 'desc').limit(filter.limit)
  // Written out, because the index of what is not sent is used only where the statement itself says that nothing else is asked for.
  if (filter.state !== undefined) found = found.where(sql<boolean>`state = ${sql.lit(filter.state)}`)
  if (filter.target !== undefined) found = found.where('target', '=', filter.target)
  if (filter.task !== undefined) found = found.where('task_id', '=', filter.task)
  if (filter.before !== undefined) found = found.where('no', '<', filter.before)
  return found.execute()
}

export async function findOutbox(db: Db, id: string): Promise<OutboxRow | undefined> {
  return db.selectFrom('pawl.outbox').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function countOutbox(db: Db): Promise<{ waiting: number; dead: number }> {
  const { rows } = await sql<{ waiting: number; dead: number }>`
    select count(*) filter (where state <> 'dead') as waiting, count(*) filter (where state = 'dead') as dead
    from pawl.outbox where state <> 'sent'
  `.execute(db)
  return rows[0] ?? { waiting: 0, dead: 0 }
}

/** What was sent long ago interests nobody; answers how many there were. */
export async function forgetSent(db: Db, before: Date): Promise<number> {
  const { rows } = await sql`delete from pawl.outbox where state = 'sent' and sent_at < ${before} returning id`.execute(db)
  return rows.length
}

/** What was meant for a browser or a listener that has gone meanwhile: nobody will ever send it. */
export async function forgetOrphans(db: Db): Promise<void> {
  await sql`
    delete from pawl.outbox o where o.state in ('pending', 'dead')
      and ((o.kind = 'push' and not exists (select from pawl.push_subscriptions s where 'browser ' || s.id = o.target))
        or (o.kind = 'a2a' and not exists (select from pawl.task_listeners l where l.id = o.target)))
  `.execute(db)
}
