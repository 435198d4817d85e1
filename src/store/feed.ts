import { sql } from 'kysely'
import type { Event, EventType } from '../domain/event.ts'
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

/**
 * What became visible since a place, the events of each task in their order; and the place after them. An event that is visible was preceded by all earlier ones of its
 * task, because their transactions held the same row until they had committed.
 */
export async function readFeed(
  db: Db,
  place: FeedPlace,
  options: FeedFilter & { limit: number },
): Promise<{ events: Event[]; place: FeedPlace; isLast: boolean }> {
  const { within } = place
  const until = within?.until ?? (await currentSnapshot(db))
  const { task, agent, types } = options
  const { rows } = await sql<{ task_id: string; seq: number; type: string; at: Date; run_id: string | null; data: unknown }>`
    select e.task_id, e.seq, e.type, e.at, e.run_id, e.data from pawl.events e
    where e.xact >= pg_snapshot_xmin(${place.seen}::pg_snapshot)
      and not pg_visible_in_snapshot(e.xact, ${place.seen}::pg_snapshot)
      and pg_visible_in_snapshot(e.xact, ${until}::pg_snapshot)
      ${within ? sql`and (e.task_id, e.seq) > (${within.task}, ${within.seq})` : sql``}
      ${task === undefined ? sql`` : sql`and e.task_id = ${task}`}
      ${types === undefined ? sql`` : sql`and e.type = any(${[...types]}::text[])`}
      ${agent === undefined ? sql`` : sql`and exists (select from pawl.tasks t where t.id = e.task_id and t.agent = ${agent})`}
    order by e.task_id, e.seq limit ${options.limit}
  `.execute(db)
  const events = rows.map(
    (row) =>
      ({
        seq: row.seq,
        at: row.at.toISOString(),
        task: row.task_id,
        ...(row.run_id === null ? {} : { run: row.run_id }),
        type: row.type,
        data: row.data,
      }) as Event,
  )
  const last = events.at(-1)
  if (events.length < options.limit || !last) return { events, place: { seen: until }, isLast: true }
  return { events, place: { seen: place.seen, within: { until, task: last.task, seq: last.seq } }, isLast: false }
}
