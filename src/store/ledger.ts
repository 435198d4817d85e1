import { sql } from 'kysely'
import type { Budget } from '../domain/agent/agent-config.ts'
import type { CostGroup, CostKnowledge } from '../domain/money/cost.ts'
import type { Totals } from '../domain/money/totals.ts'
import type { Usage } from '../domain/money/usage.ts'
import type { Db, Tx } from './database.ts'

/** One line of the ledger, but for the run it belongs to and its number there. */
export interface Booking extends Usage {
  readonly rootId: string
  readonly agent: string
  readonly account: string
  readonly user: string
  readonly model: string | null
  /** As far as it is known. */
  readonly costUsd: number | null
  /** What caps count. */
  readonly countedUsd: number
  readonly known: CostKnowledge
  /** Who served the model, where the gateway knows it. */
  readonly provider?: string | null | undefined
}

/** The line that completes a run, after those that came with its events. */
export const lastNumber = -1
/** The line for calls of which nobody knows how they ended. */
export const openNumber = -2

/** What was booked, summed up. */
export interface Booked {
  readonly usage: Usage
  /** Null if nothing of it has a known price. */
  readonly costUsd: number | null
  readonly countedUsd: number
  readonly known: CostKnowledge
  readonly lines: number
}

export const nothingBooked: Booked = {
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 0 },
  costUsd: null,
  countedUsd: 0,
  known: 'reported',
  lines: 0,
}

interface SumRow {
  input_tokens: number | null
  output_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  turns: number | null
  cost_usd: number | null
  counted_usd: number | null
  worst: CostKnowledge | null
  lines: number
}

const sums = sql`
  sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cache_read_tokens) as cache_read_tokens,
  sum(cache_write_tokens) as cache_write_tokens, sum(turns) as turns, sum(cost_usd) as cost_usd, sum(counted_usd) as counted_usd,
  case when bool_or(known = 'unknown') then 'unknown' when bool_or(known = 'priced') then 'priced' else 'reported' end as worst,
  count(*) as lines
`

const booked = (row: SumRow): Booked => ({
  usage: {
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    cacheReadTokens: row.cache_read_tokens ?? 0,
    cacheWriteTokens: row.cache_write_tokens ?? 0,
    turns: row.turns ?? 0,
  },
  costUsd: row.cost_usd,
  countedUsd: row.counted_usd ?? 0,
  known: row.worst ?? 'reported',
  lines: row.lines,
})

/** What is booked of one run, and of the other runs of its task. */
export async function bookedOf(tx: Tx, run: { id: string; taskId: string }): Promise<{ run: Booked; others: Booked }> {
  const { rows } = await sql<SumRow & { is_run: boolean }>`
    select ids.is_run, sums.* from (values (true), (false)) as ids(is_run)
    cross join lateral (select ${sums} from pawl.ledger where task_id = ${run.taskId} and (run_id = ${run.id}) = ids.is_run) as sums
    order by ids.is_run desc
  `.execute(tx)
  return { run: booked(rows[0]!), others: booked(rows[1]!) }
}

/** Completes what is booked of a run; twice is fine. If the program told the cost of it all, that is what is known of each line. */
export async function bookRest(
  tx: Tx,
  run: { id: string; taskId: string },
  booking: Booking,
  at: Date,
  number = lastNumber,
): Promise<void> {
  await sql`
    with told as (
      update pawl.ledger set known = 'reported' where run_id = ${run.id} and known <> 'reported' and ${booking.known === 'reported'}
    )
    insert into pawl.ledger (run_id, number, task_id, root_id, agent, account, user_name, model, at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, turns, cost_usd, counted_usd, known, provider)
    values (${run.id}, ${number}, ${run.taskId}, ${booking.rootId}, ${booking.agent}, ${booking.account}, ${booking.user}, ${booking.model}, ${at},
      ${booking.inputTokens}, ${booking.outputTokens}, ${booking.cacheReadTokens}, ${booking.cacheWriteTokens}, ${booking.turns}, ${booking.costUsd}, ${booking.countedUsd}, ${booking.known}, ${booking.provider ?? null})
    on conflict (run_id, number) do nothing
  `.execute(tx)
}

/** What a task and everything below it has used, but for one run, and the caps it has. */
export interface TreeSpent {
  readonly task: string
  readonly budget: Budget
  readonly countedUsd: number
  readonly tokens: number
  readonly turns: number
  /** How long its runs took, those that have ended and those that have not. */
  readonly ranMs: number
}

/** For the task itself and each task that it is a part of, the task first. */
export async function spentOfTrees(db: Db, task: string, run: string, now: Date): Promise<TreeSpent[]> {
  const { rows } = await sql<{
    id: string
    budget: Budget | null
    counted: number | null
    tokens: number | null
    turns: number | null
    ran: number | null
  }>`
    with recursive up as (
      select id, parent_id, agent_config -> 'budget' as budget, 0 as above from pawl.tasks where id = ${task}
      union all select t.id, t.parent_id, t.agent_config -> 'budget', up.above + 1 from up join pawl.tasks t on t.id = up.parent_id
    ), down as (
      select id as top, id from up union all select down.top, t.id from down join pawl.tasks t on t.parent_id = down.id
    )
    select up.id, up.budget, spent.*, (
      select sum(extract(epoch from coalesce(r.ended_at, ${now}) - r.started_at) * 1000) from down join pawl.runs r on r.task_id = down.id
      where down.top = up.id and r.id <> ${run} and r.started_at is not null
    ) as ran
    from up cross join lateral (
      select sum(l.counted_usd) as counted, sum(l.input_tokens + l.output_tokens + l.cache_read_tokens + l.cache_write_tokens) as tokens, sum(l.turns) as turns
      from down join pawl.ledger l on l.task_id = down.id where down.top = up.id and l.run_id <> ${run}
    ) as spent
    order by up.above
  `.execute(db)
  return rows.map((row) => ({
    task: row.id,
    budget: row.budget ?? {},
    countedUsd: row.counted ?? 0,
    tokens: row.tokens ?? 0,
    turns: row.turns ?? 0,
    ranMs: row.ran ?? 0,
  }))
}

/** What counts since a time, of everything, of one agent and of one user; one run is left out. */
export async function spentSince(
  db: Db,
  since: Date,
  but: { run: string; agent: string; user: string },
): Promise<{ all: number; agent: number; user: number }> {
  const { rows } = await sql<{ total: number | null; agent: number | null; owner: number | null }>`
    select sum(counted_usd) as total, sum(counted_usd) filter (where agent = ${but.agent}) as agent, sum(counted_usd) filter (where user_name = ${but.user}) as owner
    from pawl.ledger where at >= ${since} and run_id <> ${but.run}
  `.execute(db)
  return { all: rows[0]?.total ?? 0, agent: rows[0]?.agent ?? 0, user: rows[0]?.owner ?? 0 }
}

export interface CostFilter {
  readonly since: Date
  readonly until?: Date | undefined
  readonly by: CostGroup
  readonly timeZone: string
  readonly limit: number
}

/** What was spent, in groups, the dearest first; and in all. */
export async function sumCosts(
  db: Db,
  filter: CostFilter,
): Promise<{ total: Booked; groups: (Booked & { key: string })[]; unpriced: string[] }> {
  const key = {
    agent: sql`agent`,
    model: sql`coalesce(model, '')`,
    provider: sql`coalesce(provider, '')`,
    task: sql`task_id`,
    // With everything below it; of what was deleted nobody knows where it stood.
    tree: sql`coalesce((select t.root_id from pawl.tasks t where t.id = task_id), task_id)`,
    user: sql`user_name`,
    day: sql`to_char(at at time zone ${filter.timeZone}, 'YYYY-MM-DD')`,
  }[filter.by]
  const chosen = sql`at >= ${filter.since} and ${filter.until ? sql`at < ${filter.until}` : sql`true`}`
  const [groups, total, unpriced] = await Promise.all([
    sql<SumRow & { key: string }>`
      select ${key} as key, ${sums} from pawl.ledger where ${chosen} group by 1 order by sum(counted_usd) desc, 1 limit ${filter.limit}
    `.execute(db),
    sql<SumRow>`select ${sums} from pawl.ledger where ${chosen}`.execute(db),
    sql<{
      model: string
    }>`select distinct coalesce(model, '') as model from pawl.ledger where ${chosen} and known = 'unknown' order by 1 limit 100`.execute(
      db,
    ),
  ])
  return {
    total: booked(total.rows[0]!),
    groups: groups.rows.map((row) => ({ key: row.key, ...booked(row) })),
    unpriced: unpriced.rows.map((row) => row.model),
  }
}

/** What a task itself cost. */
export async function costOfTask(db: Db, task: string): Promise<Booked> {
  const { rows } = await sql<SumRow>`select ${sums} from pawl.ledger where task_id = ${task}`.execute(db)
  return booked(rows[0]!)
}

/** What the runs of a task that have ended came to together; undefined if none was begun. */
export async function totalsOfTask(db: Db | Tx, task: string): Promise<Totals | undefined> {
  const { rows } = await sql<SumRow & { runs: number; ran: number | null }>`
    select r.*, l.* from (
      select count(*) as runs, sum(extract(epoch from ended_at - started_at) * 1000) as ran from pawl.runs where task_id = ${task} and started_at is not null and ended_at is not null
    ) as r cross join (select ${sums} from pawl.ledger where task_id = ${task}) as l
  `.execute(db)
  const row = rows[0]!
  return row.runs === 0 ? undefined : totals({ runs: row.runs, durationMs: row.ran ?? 0, ...booked(row) })
}

/** A cost that nobody told and no table knows is left out. */
export const totals = (sum: {
  runs: number
  durationMs: number
  usage: Usage
  costUsd: number | null
  known: CostKnowledge
}): Totals => ({
  runs: sum.runs,
  durationMs: Math.max(0, Math.round(sum.durationMs)),
  usage: sum.usage,
  ...(sum.costUsd === null ? {} : { costUsd: sum.costUsd, known: sum.known }),
})

/** What a task cost with all that is below it. */
export async function costOfTree(db: Db, task: string): Promise<Booked> {
  const { rows } = await sql<SumRow>`
    with recursive down as (
      select ${task}::text as id union all select t.id from down join pawl.tasks t on t.parent_id = down.id
    )
    select ${sums} from pawl.ledger where task_id in (select id from down)
  `.execute(db)
  return booked(rows[0]!)
}
