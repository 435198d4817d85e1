import { sql } from 'kysely'
import type { Event, EventType } from '../domain/event/event.ts'
import type { Db } from './database.ts'

/** What a reader of all tasks has seen: everything that was visible in `seen`, and of what became visible by `until` everything up to a place. */
export interface FeedPlace {
  readonly seen: string
  readonly within?: { readonly until: string; readonly task: string; readonly seq: number } | undefined
}

export interface FeedFilter {
  readonly task?: string | undefined
  readonly agent?: string | undefined
  readonly types?: readonly EventType[] | undefined
}

/** Nothing is visible in it. */
export const beforeAll = '1:1:'

export async function currentSnapshot(db: Db): Promise<string> {
  const { rows } = await sql<{ now: string }>`select pg_current_snapshot()::text as now`.execute(db)
  return rows[0]!.now
}

/** An event with the agent of its task. */
export interface FoundEvent {
  readonly agent: string
  readonly event: Event
}

export interface FeedPage {
  readonly found: readonly FoundEvent[]
  /** After them. */
  readonly place: FeedPlace
  readonly isLast: boolean
}

/** So many events that are new, at most, are sorted. */
const mostSorted = 5_000

/** More is not taken into memory at once, but for a single event that is larger. */
const mostBytes = 4 * 1024 * 1024

/**
 * What became visible since a place, the events of each task in their order; and the place after them. An event that is visible was preceded by all earlier ones of its
 * task, because their transactions held the same row until they had committed. With `until`: only what was visible in that snapshot.
 */
export async function readFeed(
  db: Db,
  place: FeedPlace,
  options: FeedFilter & { limit: number; until?: string | undefined; maxBytes?: number | undefined },
): Promise<FeedPage> {
  const { within } = place
  const until = within?.until ?? options.until ?? (await currentSnapshot(db))
  const { task, agent, types, limit, maxBytes = mostBytes } = options
  const since = sql`e.xact >= pg_snapshot_xmin(${place.seen}::pg_snapshot)`
  const chosen = sql`${since} and not pg_visible_in_snapshot(e.xact, ${place.seen}::pg_snapshot) and pg_visible_in_snapshot(e.xact, ${until}::pg_snapshot)
    ${within ? sql`and (e.task_id, e.seq) > (${within.task}, ${within.seq})` : sql``}
    ${task === undefined ? sql`` : sql`and e.task_id = ${task}`}
    ${types === undefined ? sql`` : sql`and e.type = any(${[...types]}::text[])`}`
  const columns = sql`e.task_id, e.seq, e.type, e.at, e.run_id, e.data`
  // Who reads what is new goes by its transactions and sorts it; who has far to go walks the journals in their order. The planner cannot tell one from the other.
  const isFar =
    (await sql`select from pawl.events e where ${since} order by e.xact offset ${mostSorted} limit 1`.execute(db)).rows.length > 0
  const { rows } = await sql<Row>`
    with ${
      isFar
        ? sql`found as materialized (
      select ${columns}, t.agent from pawl.events e join pawl.tasks t on t.id = e.task_id
      where ${chosen} ${agent === undefined ? sql`` : sql`and t.agent = ${agent}`}
      order by e.task_id, e.seq limit ${limit}`
        : sql`fresh as materialized (
      select ${columns}, (select t.agent from pawl.tasks t where t.id = e.task_id) as agent from pawl.events e where ${chosen} order by e.xact
    ), found as materialized (
      select * from fresh where ${agent === undefined ? sql`agent is not null` : sql`agent = ${agent}`} order by task_id, seq limit ${limit}`
    }
    ), sized as (
      select found.*, count(*) over () as total, sum(octet_length(data::text)) over (order by task_id, seq) - octet_length(data::text) as before from found
    )
    select * from sized where before < ${maxBytes} order by task_id, seq
  `.execute(db)
  const found = rows.map((row) => ({ agent: row.agent, event: eventOf(row) }))
  const last = found.at(-1)?.event
  const total = rows[0]?.total ?? 0
  if (!last || (total < limit && rows.length === total)) return { found, place: { seen: until }, isLast: true }
  return { found, place: { seen: place.seen, within: { until, task: last.task, seq: last.seq } }, isLast: false }
}

interface Row {
  readonly task_id: string
  readonly seq: number
  readonly type: string
  readonly at: Date
  readonly run_id: string | null
  readonly data: unknown
  readonly agent: string
  readonly total: number
}

const eventOf = (row: Row) =>
  ({
    seq: row.seq,
    at: row.at.toISOString(),
    task: row.task_id,
    ...(row.run_id === null ? {} : { run: row.run_id }),
    type: row.type,
    data: row.data,
  }) as Event
