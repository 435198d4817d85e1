import { sql } from 'kysely'
import type { Reason } from '../domain/task/task.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'
import type { CooldownRow } from './tables.ts'

/**
 * Nobody of the account may start yet. A backoff counts from when it was written, so one that was written in what is now the future is over: the clock was set back.
 * The end of a usage limit is a time of the provider's, and stands whatever our clock does.
 */
export const isClosed = (now: Date) =>
  sql`(c.until > ${now} and (c.kind = 'usage_limit' or c.updated_at <= ${now}::timestamptz + interval '1 minute'))`
/** The one run that shows whether the limit is over is under way. */
export const isChecking = sql`exists (select 1 from pawl.runs r where r.id = c.probe and r.state <> 'ended')`

/**
 * That run is under way and has been served: it has an answer or calls tools, or has gone on for so long that it would have been refused by now. Its end may be hours away,
 * and nobody has to wait for it.
 */
export const isServing = (now: Date) => sql`exists (select 1 from pawl.runs r where r.id = c.probe and r.state = 'running' and (
  r.started_at < ${now}::timestamptz - interval '10 minutes'
  or exists (select 1 from pawl.ledger l where l.run_id = r.id and l.output_tokens > 0)
  or exists (select 1 from pawl.events e where e.run_id = r.id and e.run_no is not null and e.type = 'agent.tool_called')
))`

/** The process that asks: one that takes everybody's tasks, or only those that are kept for it. */
export interface Taker {
  readonly worker: string
  readonly shared: boolean
}

/** A parked task whose account is being looked into, or has somebody in our queue who will: its turn comes after that. */
const isHeld = (now: Date, { worker, shared }: Taker) => sql`exists (
  select 1 from pawl.cooldowns c where c.account = t.account and not ${isClosed(now)} and (${isChecking} or exists (
    select 1 from pawl.tasks q where q.state = 'queued' and q.account = c.account and (q.bound_to = ${worker}${shared ? sql` or q.bound_to is null` : sql``})
      and not exists (select 1 from pawl.users u where u.name = q.user_name and u.slots = 0)
  ))
)`

/** Whoever runs only its own tasks wakes no others: they would wait in a queue that nobody reads. */
const isParked = ({ worker, shared }: Taker) => sql`t.state = 'parked'${shared ? sql`` : sql` and t.bound_to = ${worker}`}`
export const isDue = (now: Date, taker: Taker) => sql`${isParked(taker)} and t.resume_at <= ${now} and not ${isHeld(now, taker)}`
/** A queued task whose account is at its limit, until a time that is known. */
export const isToBePutOff = (now: Date) =>
  sql`t.state = 'queued' and t.account = c.account and c.kind = 'usage_limit' and c.until > ${now}`

export interface MetCooldown extends CooldownRow {
  /** The run that asks is the one that was let through to see whether the limit is over. */
  is_own: boolean
}

/** The cooldown of an account as this run of a task meets it, kept so until the transaction ends. */
export async function lockCooldown(
  tx: Tx,
  task: { account: string; id: string; fence: number },
): Promise<MetCooldown | undefined> {
  const { rows } = await sql<MetCooldown>`
    select c.*, exists (select 1 from pawl.runs r where r.id = c.probe and r.task_id = ${task.id} and r.fence = ${task.fence}) as is_own
    from pawl.cooldowns c where c.account = ${task.account} for update of c
  `.execute(tx)
  return rows[0]
}

/** Begins a cooldown or goes on with it; whoever met it anew decides until when, and two who meet it at once agree on the later time. */
export async function putCooldown(
  tx: Tx,
  row: Pick<CooldownRow, 'account' | 'kind' | 'until' | 'step' | 'why' | 'agent'> & { at: Date; isKnown: boolean },
): Promise<void> {
  const later = row.isKnown ? sql`excluded.until` : sql`greatest(cooldowns.until, excluded.until)`
  await sql`
    insert into pawl.cooldowns (account, kind, until, step, why, agent, since, updated_at)
    values (${row.account}, ${row.kind}, ${row.until}, ${row.step}, ${storableText(row.why)}, ${row.agent}, ${row.at}, ${row.at})
    on conflict (account) do update set kind = excluded.kind, until = ${later}, step = excluded.step, why = excluded.why, agent = excluded.agent, probe = null, updated_at = excluded.updated_at
  `.execute(tx)
}

/** The account's limit is over: this run of the task, which was let through to see, has worked. Those who wait for a later end are due. */
export async function endCooldown(tx: Tx, task: { account: string; id: string; fence: number }, at: Date): Promise<void> {
  const { rows } = await sql`
    delete from pawl.cooldowns c using pawl.runs r
    where c.account = ${task.account} and r.id = c.probe and r.task_id = ${task.id} and r.fence = ${task.fence} returning c.account
  `.execute(tx)
  if (rows.length > 0) await makeDue(tx, [task.account], at)
}

/** The limits of accounts that work again are over. */
export async function endServing(tx: Tx, at: Date): Promise<void> {
  const { rows } = await sql<{ account: string }>`
    delete from pawl.cooldowns c where c.account in (
      select c.account from pawl.cooldowns c where ${isServing(at)} order by c.account for update of c skip locked
    ) returning c.account
  `.execute(tx)
  if (rows.length > 0)
    await makeDue(
      tx,
      rows.map((row) => row.account),
      at,
    )
}

/** What somebody moves at this moment is left to them, so nobody waits here for a lock. */
async function makeDue(tx: Tx, accounts: readonly string[], at: Date): Promise<void> {
  await sql`
    with free as materialized (
      select id from pawl.tasks where state = 'parked' and account = any(${[...accounts]}::text[]) and resume_at > ${at} and reason ->> 'kind' = 'usage_limit' for update skip locked
    ) update pawl.tasks t set resume_at = ${at}, updated_at = ${at} from free where t.id = free.id
  `.execute(tx)
}

/** Lets these runs through, one of each account. */
export async function setProbes(tx: Tx, probes: readonly { account: string; run: string }[]): Promise<void> {
  await sql`
    update pawl.cooldowns c set probe = i.run from jsonb_to_recordset(${JSON.stringify(probes)}::jsonb) as i(account text, run text)
    where c.account = i.account
  `.execute(tx)
}

/** At which of these accounts nothing can begin now. One whose time is over can be tried, and nobody else may ever come to try it. */
export async function coolingOf(tx: Tx, accounts: readonly string[], now: Date): Promise<Set<string>> {
  const { rows } = await sql<{ account: string }>`
    select c.account from pawl.cooldowns c where c.account = any(${[...accounts]}::text[]) and (${isClosed(now)} or ${isChecking})
  `.execute(tx)
  return new Set(rows.map((row) => row.account))
}

export interface Due {
  readonly id: string
  readonly account: string
  readonly reason: Reason | null
  /** Of a cooldown of its account; null if there is none. */
  readonly kind: CooldownRow['kind'] | null
  readonly until: Date | null
  readonly is_closed: boolean
  readonly why: string | null
  /** Which one it is among the due tasks of its account, from 1, and how many those are. */
  readonly place: number
  readonly of: number
}

/** Parked tasks whose time has come, with what their account says to it. */
export async function dueTasks(tx: Tx, now: Date, taker: Taker): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select t.id, t.account, t.reason, c.kind, c.until, coalesce(${isClosed(now)}, false) as is_closed, c.why,
      row_number() over (partition by t.account order by t.resume_at, t.id)::int as place, count(*) over (partition by t.account)::int as of
    from pawl.tasks t left join pawl.cooldowns c on c.account = t.account
    where ${isDue(now, taker)} order by t.resume_at, t.id limit 500
  `.execute(tx)
  return rows
}

/** Parked tasks wait on, until another time. Answers which: one that somebody moves at this moment is left to them. */
export async function putOffParked(
  tx: Tx,
  tasks: readonly { id: string; until: Date; reason: Reason }[],
  at: Date,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    with input as (select * from jsonb_to_recordset(${jsonText(tasks)}::jsonb) as i(id text, until timestamptz, reason jsonb)
    ), free as materialized (
      select id from pawl.tasks where id = any(array(select id from input)) and state = 'parked' for update skip locked
    )
    update pawl.tasks t set resume_at = i.until, reason = i.reason, updated_at = ${at} from input i join free on free.id = i.id where t.id = i.id returning t.id
  `.execute(tx)
  return new Set(rows.map((row) => row.id))
}

/** Queued tasks of accounts that are at their limit for which other agents are named. */
export async function queuedWithFailover(tx: Tx, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from pawl.cooldowns c join pawl.tasks t on ${isToBePutOff(now)} where t.spec ? 'failover' order by t.id limit 100 for update of t skip locked
  `.execute(tx)
  return rows.map((row) => row.id)
}

export interface PutOff {
  readonly id: string
  readonly until: Date
  readonly why: string
  readonly agent: string
}

/** Queued tasks of accounts that are at their limit, the move `put_off` for many at once. What somebody moves at this moment is left to them. */
export async function putOffQueued(tx: Tx, now: Date): Promise<PutOff[]> {
  const { rows } = await sql<PutOff>`
    with held as materialized (
      select t.id, c.until, c.why, c.agent from pawl.cooldowns c join pawl.tasks t on ${isToBePutOff(now)} order by t.id limit 500 for update of t skip locked
    )
    update pawl.tasks t set state = 'parked', resume_at = held.until, updated_at = ${now},
      reason = jsonb_build_object('kind', 'usage_limit', 'detail', held.why) from held where t.id = held.id
    returning t.id, held.until, held.why, held.agent
  `.execute(tx)
  return rows
}

/** When the next parked task wakes, or a backoff of a whole account ends. Not who is held: they are thought of when their account is free. */
export async function nextWake(db: Db, now: Date, taker: Taker): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least((select min(t.resume_at) from pawl.tasks t where ${isParked(taker)} and not ${isHeld(now, taker)}), (select min(until) from pawl.cooldowns where until > ${now})) as at
  `.execute(db)
  return rows[0]?.at ?? undefined
}

/** Backoffs that were written in what is now the future end at once: the clock was set back since. Those that end at a time of the provider's stand. */
export async function endFutureWaits(db: Db, now: Date): Promise<void> {
  await sql`
    update pawl.tasks set resume_at = ${now}
    where state = 'parked' and updated_at > ${now}::timestamptz + interval '1 minute' and resume_at > ${now} and reason ->> 'kind' <> 'usage_limit'
  `.execute(db)
}

export interface Cooldown extends CooldownRow {
  is_checking: boolean
  /** Agents that are known to share the account. */
  agents: string[]
  waiting: number
}

export async function listCooldowns(db: Db | Tx): Promise<Cooldown[]> {
  const { rows } = await sql<Cooldown>`
    select c.*, ${isChecking} as is_checking,
      array(select distinct t.agent from pawl.tasks t where t.state in ('queued', 'parked') and t.account = c.account union select c.agent order by 1) as agents,
      (select count(*) from pawl.tasks t where t.state in ('queued', 'parked') and t.account = c.account) as waiting
    from pawl.cooldowns c order by c.until, c.account
  `.execute(db)
  return rows
}

/** The next task of an account may go at once, as the one that shows whether the limit is over. */
export async function checkNow(tx: Tx, account: string, now: Date): Promise<void> {
  await sql`update pawl.cooldowns set until = ${now} where account = ${account} and until > ${now}`.execute(tx)
}

/** Forgets the cooldown of these accounts; those who wait for its end are due. */
export async function removeCooldowns(tx: Tx, accounts: readonly string[], now: Date): Promise<void> {
  await makeDue(tx, accounts, now)
  await sql`delete from pawl.cooldowns where account = any(${[...accounts]}::text[])`.execute(tx)
}
