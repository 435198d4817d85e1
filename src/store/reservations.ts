import { sql } from 'kysely'
import type { Budget } from '../domain/agent/agent-config.ts'
import type { Statements } from './at-once.ts'
import type { Db, Tx } from './database.ts'

/** Whose money a run spends, and on what as far as one model can be named. */
export interface Holder {
  readonly run: string
  readonly task: string
  readonly rootId: string
  readonly agent: string
  readonly account: string
  readonly user: string
  readonly fence: number
}

/** Any number that no other program is likely to lock with. */
const lockKey = 7_295_006

/** Nobody else raises a reservation until this transaction ends, in any process. */
export async function lockReservations(tx: Statements): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(tx)
}

/** What counts against one cap: booked, and held by others and by this run. Of what others hold, `open` is for calls under way. */
export interface CountedAgainst {
  readonly bookedUsd: number
  readonly othersUsd: number
  readonly othersOpenUsd: number
}

export interface Standing {
  readonly own: { readonly usd: number; readonly openUsd: number }
  /** What the run itself has booked. */
  readonly runUsd: number
  /** The task itself first, then each task that it is a part of. */
  readonly trees: readonly (CountedAgainst & { readonly task: string; readonly budget: Budget })[]
  readonly agentDay: CountedAgainst
  readonly userDay: CountedAgainst
  readonly day: CountedAgainst
  readonly month: CountedAgainst
}

type Sums = { booked: number | null; usd: number | null; open: number | null }
const counted = ({ booked, usd, open }: Sums): CountedAgainst => ({
  bookedUsd: booked ?? 0,
  othersUsd: usd ?? 0,
  othersOpenUsd: open ?? 0,
})

/**
 * Where a run stands against everything that may cap it. Undefined if the run no longer has its fence: then it may spend nothing. The head of its journal stays
 * locked, so the run cannot be ended before what is decided by this is written. Sums that no cap needs (`since` undefined) are not made.
 */
export async function standingOf(
  tx: Statements,
  holder: Holder,
  since: { day?: Date | undefined; month?: Date | undefined },
): Promise<Standing | undefined> {
  const { rows } = await sql<{
    own: { usd: number; open: number } | null
    run: number | null
    trees: (Sums & { id: string; budget: Budget | null })[]
    shared: Record<'agent' | 'user' | 'all', Sums> & { month: number | null }
  }>`
    with recursive head as materialized (
      select task_id from pawl.journal_heads where task_id = ${holder.task} and fence = ${holder.fence} for share
    ), up as (
      select id, parent_id, agent_config -> 'budget' as budget, 0 as above from pawl.tasks where id = ${holder.task}
      union all select t.id, t.parent_id, t.agent_config -> 'budget', up.above + 1 from up join pawl.tasks t on t.id = up.parent_id
    ), down as (
      select id as top, id from up union all select down.top, t.id from down join pawl.tasks t on t.parent_id = down.id
    ), tree as (
      select up.id, up.budget, up.above,
        (select sum(l.counted_usd) from down join pawl.ledger l on l.task_id = down.id where down.top = up.id) as booked, held.*
      from up cross join lateral (
        select sum(r.usd) as usd, sum(r.open_usd) as open from down join pawl.reservations r on r.task_id = down.id where down.top = up.id and r.run_id <> ${holder.run}
      ) as held
    ), held as (
      select sum(usd) as usd, sum(open_usd) as open,
        sum(usd) filter (where agent = ${holder.agent}) as agent_usd, sum(open_usd) filter (where agent = ${holder.agent}) as agent_open,
        sum(usd) filter (where user_name = ${holder.user}) as user_usd, sum(open_usd) filter (where user_name = ${holder.user}) as user_open
      from pawl.reservations where run_id <> ${holder.run}
    ), today as (
      select sum(counted_usd) as total, sum(counted_usd) filter (where agent = ${holder.agent}) as agent, sum(counted_usd) filter (where user_name = ${holder.user}) as owner
      from pawl.ledger where at >= ${since.day ?? null}::timestamptz
    )
    select (select jsonb_build_object('usd', usd, 'open', open_usd) from pawl.reservations where run_id = ${holder.run}) as own,
      (select sum(counted_usd) from pawl.ledger where run_id = ${holder.run}) as run,
      (select jsonb_agg(to_jsonb(tree) order by above) from tree) as trees,
      jsonb_build_object(
        'all', jsonb_build_object('booked', today.total, 'usd', held.usd, 'open', held.open),
        'agent', jsonb_build_object('booked', today.agent, 'usd', held.agent_usd, 'open', held.agent_open),
        'user', jsonb_build_object('booked', today.owner, 'usd', held.user_usd, 'open', held.user_open),
        'month', (select sum(counted_usd) from pawl.ledger where at >= ${since.month ?? null}::timestamptz)
      ) as shared
    from head, held, today
  `.execute(tx)
  const row = rows[0]
  if (!row) return undefined
  const { shared } = row
  return {
    own: { usd: row.own?.usd ?? 0, openUsd: row.own?.open ?? 0 },
    runUsd: row.run ?? 0,
    trees: row.trees.map((tree) => ({ task: tree.id, budget: tree.budget ?? {}, ...counted(tree) })),
    agentDay: counted(shared.agent),
    userDay: counted(shared.user),
    day: counted(shared.all),
    month: counted({ ...shared.all, booked: shared.month }),
  }
}

/** Holds more for a run; only in a transaction that has asked where it stands. `last` names what it was held for last. */
export async function raiseReservation(
  tx: Tx,
  holder: Holder,
  by: { usd: number; openUsd: number },
  last: { model: string; provider: string },
  at: Date,
): Promise<void> {
  // Not by `on conflict`: the table's check would be made on what is added, too.
  await sql`
    with raised as (
      update pawl.reservations set usd = usd + ${by.usd}::numeric, open_usd = open_usd + ${by.openUsd}::numeric, model = ${last.model}, provider = ${last.provider}, at = ${at}
      where run_id = ${holder.run} returning run_id
    )
    insert into pawl.reservations (run_id, task_id, root_id, agent, account, user_name, model, provider, fence, usd, open_usd, at)
    select ${holder.run}, ${holder.task}, ${holder.rootId}, ${holder.agent}, ${holder.account}, ${holder.user}, ${last.model}, ${last.provider}, ${holder.fence}::integer, ${by.usd}::numeric, ${by.openUsd}::numeric, ${at}::timestamptz
    where not exists (select 1 from raised)
  `.execute(tx)
}

/**
 * Opens more of what the run holds already; false if it does not hold as much. One row, looked at once: what is added must not come from another version of it than what it is added to,
 * because the server looks whether a row is sound before it looks whether somebody else has changed it. A run that was ended has no row.
 */
export async function openReservation(db: Db, run: string, usd: number): Promise<boolean> {
  const { rows } = await sql`
    update pawl.reservations set open_usd = open_usd + ${usd}::numeric where run_id = ${run} and usd - open_usd >= ${usd}::numeric returning run_id
  `.execute(db)
  return rows.length > 0
}

/** Gives back what no call is under way for. */
export async function closeReservation(db: Db, run: string, openUsd: number): Promise<void> {
  await sql`update pawl.reservations set open_usd = greatest(open_usd - ${openUsd}::numeric, 0) where run_id = ${run}`.execute(db)
}

/** Takes from all others what they hold ahead and use for no call. A row that somebody is writing just now is left: whoever waited for it could be waited for. */
export async function reclaimOthers(tx: Statements, run: string): Promise<void> {
  await sql`
    with idle as materialized (
      select run_id from pawl.reservations where run_id <> ${run} and usd > open_usd for update skip locked
    )
    update pawl.reservations r set usd = r.open_usd from idle where r.run_id = idle.run_id
  `.execute(tx)
}

/** Ends what a run holds, and says how much of it was open. The head of the journal comes first, as for everybody who frees something. */
export async function endReservation(
  tx: Tx,
  run: { id: string; taskId: string },
): Promise<{ openUsd: number; model: string | null; provider: string | null } | undefined> {
  const { rows } = await sql<{ openUsd: number; model: string | null; provider: string | null }>`
    with head as materialized (select task_id from pawl.journal_heads where task_id = ${run.taskId} for update)
    delete from pawl.reservations r using head where r.run_id = ${run.id} and r.task_id = head.task_id returning r.open_usd as "openUsd", r.model, r.provider
  `.execute(tx)
  return rows[0]
}

/**
 * Books what is still open of runs that are over: a worker that was taken for dead can have reserved in the very moment in which its run was ended. Answers how many.
 */
export async function bookOrphans(db: Db, at: Date): Promise<number> {
  const { rows } = await sql`
    with gone as (
      delete from pawl.reservations r where not exists (select 1 from pawl.runs where id = r.run_id and state <> 'ended') returning r.*
    )
    insert into pawl.ledger (run_id, number, task_id, root_id, agent, account, user_name, model, at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, turns, cost_usd, counted_usd, known, provider)
    select run_id, least(-3, (select min(number) - 1 from pawl.ledger l where l.run_id = gone.run_id)), task_id, root_id, agent, account, user_name, model, ${at}, 0, 0, 0, 0, 0, null, open_usd, 'unknown', provider
    from gone where open_usd > 0 returning run_id
  `.execute(db)
  return rows.length
}
