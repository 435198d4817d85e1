import { sql } from 'kysely'
import { isObject } from '../domain/base/object.ts'
import type { Event, NewEvent } from '../domain/event/event.ts'
import type { Statements } from './at-once.ts'
import type { Db } from './database.ts'
import type { Booking } from './ledger.ts'
import { isToldToListeners, toldToListeners } from './listeners.ts'
import { andCommit } from './transactions.ts'

/** An event on its way into the journal. `runNo` counts the events of one run, so that a batch sent twice is stored once. */
export interface Entry {
  readonly task: string
  readonly run?: string | undefined
  readonly runNo?: number | undefined
  /** Given by whoever speaks for a run: the entry is dropped unless this fence holds the task's journal now. */
  readonly fence?: number | undefined
  readonly at: Date
  readonly event: NewEvent
  /** A line of the ledger that is stored with the event, or not at all; of entries that have a run and a `runNo`. */
  readonly booking?: Booking | undefined
  /** What the run's reservation is less from then on, stored with the event, or not at all. */
  readonly frees?: Freed | undefined
}

/** Of what a run holds reserved: what was spent of it, and what is no longer under way; the second is never less. */
export interface Freed {
  readonly usd: number
  readonly openUsd: number
}

/** What was stored, and so may be shown. */
export interface Stored {
  readonly index: number
  readonly event: Event
}

/**
 * Numbers and stores entries. The head rows are locked in the order of their tasks, so writers of many tasks cannot deadlock, and the fence is read from
 * the locked row itself: a writer that waited for the lock while its run was taken away loses. `isLast` commits the transaction along with it.
 */
export async function appendEvents(
  db: Statements,
  entries: readonly Entry[],
  { isLast = false, onTold }: { isLast?: boolean; onTold?: (() => void) | undefined } = {},
): Promise<Stored[]> {
  if (entries.length === 0) return []
  const payload = entries.map((entry, n) => ({
    n,
    task: entry.task,
    run: entry.run ?? null,
    no: entry.runNo ?? null,
    fence: entry.fence ?? null,
    type: entry.event.type,
    at: entry.at.toISOString(),
    data: entry.event.data,
    ...(entry.booking ? { book: entry.booking } : {}),
    ...(entry.frees ? { frees: entry.frees } : {}),
  }))
  // Most batches book nothing, and keep the shorter plan.
  const books = entries.some((entry) => entry.booking !== undefined)
  const frees = entries.some((entry) => entry.frees !== undefined)
  const tells = entries.some((entry) => isToldToListeners(entry.event.type))
  const { rows } = await sql<{ n: number; seq: number; told?: boolean }>`
    with input as materialized (
      select * from jsonb_to_recordset(${jsonText(payload)}::jsonb) as i(n int, task text, run text, no int, fence int, type text, at timestamptz, data jsonb${books ? sql`, book jsonb` : sql``}${frees ? sql`, frees jsonb` : sql``})
    ), heads as materialized (
      select h.task_id, h.seq, h.fence${tells ? sql`, h.told` : sql``} from pawl.journal_heads h where h.task_id = any(array(select task from input)) order by h.task_id for update
    ), fresh as materialized (
      select i.*, h.seq + row_number() over (partition by i.task order by i.n) as seq
      from input i join heads h on h.task_id = i.task
      where (i.fence is null or i.fence = h.fence)
        and (i.no is null or (select e.seq from pawl.events e where e.run_id = i.run and e.run_no = i.no) is null)
    ), moved as (
      update pawl.journal_heads h set seq = f.last from (select task, max(seq) as last from fresh group by task) f where h.task_id = f.task
    )${books ? booked : sql``}${frees ? freed : sql``}${tells ? toldToListeners : sql``}, stored as (
      insert into pawl.events (task_id, seq, run_id, run_no, type, at, data)
      select task, seq, run, no, type, at, data from fresh order by task, seq
    )
    select n, seq${tells ? sql`, exists (select from told) as told` : sql``} from fresh ${isLast ? andCommit : sql``}`.execute(db)
  if (rows.some(({ told }) => told)) onTold?.()
  return rows.map((row) => ({ index: row.n, event: toEvent(entries[row.n]!, row.seq) })).sort((a, b) => a.index - b.index)
}

/** The journal's own number is the line's: a batch sent twice is booked once. */
const booked = sql`, booked as (
      insert into pawl.ledger (run_id, number, task_id, root_id, agent, account, user_name, model, at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, turns, cost_usd, counted_usd, known, provider)
      select f.run, f.no, f.task, b."rootId", b.agent, b.account, b."user", b.model, f.at, b."inputTokens", b."outputTokens", b."cacheReadTokens", b."cacheWriteTokens", b.turns, b."costUsd", b."countedUsd", b.known, b.provider
      from fresh f cross join lateral jsonb_to_record(f.book) as b("rootId" text, agent text, account text, "user" text, model text, "inputTokens" bigint, "outputTokens" bigint, "cacheReadTokens" bigint, "cacheWriteTokens" bigint, turns int, "costUsd" numeric, "countedUsd" numeric, known text, provider text)
      where f.book is not null and f.run is not null and f.no is not null
      on conflict (run_id, number) do nothing
    )`

/** The rows lie behind the locked heads of their tasks: nobody else who holds such a row waits for one of ours. */
const freed = sql`, freed as (
      update pawl.reservations r set open_usd = greatest(r.open_usd - f.open_usd, 0), usd = greatest(r.usd - f.usd, r.open_usd - f.open_usd, 0)
      from (select run, sum((frees ->> 'usd')::numeric) as usd, sum((frees ->> 'openUsd')::numeric) as open_usd from fresh where frees is not null group by run) f
      where r.run_id = f.run
    )`

function toEvent(entry: Entry, seq: number): Event {
  const envelope = { seq, at: entry.at.toISOString(), task: entry.task, ...(entry.run === undefined ? {} : { run: entry.run }) }
  // The pair of type and data is correlated in NewEvent; spreading loses that, the value does not.
  return { ...envelope, ...entry.event } as Event
}

/**
 * PostgreSQL's jsonb holds neither NUL nor half a surrogate pair; both are shown as the replacement sign, the raw log keeps the bytes. Text without them, which
 * is nearly all, is written in one go; a backslash that somebody typed looks the same here and is looked at closely too.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes('\\u0000') || text.includes('\\ud') ? JSON.stringify(value, storable) : text
}

function storable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), inner]))
}

/** Text as a column can hold it. */
export const storableText = (text: string) => text.replaceAll('\0', '\ufffd').toWellFormed()

/** Events of one task after a number, in order. Asking while they are being written shows no gap: numbers of one task commit in order. */
export async function readEvents(db: Db, task: string, options: { after: number; limit: number }): Promise<Event[]> {
  const { rows } = await sql<{ seq: number; type: string; at: Date; run_id: string | null; data: unknown }>`
    select seq, type, at, run_id, data from pawl.events where task_id = ${task} and seq > ${options.after} order by seq limit ${options.limit}
  `.execute(db)
  return rows.map(
    (row) =>
      ({
        seq: row.seq,
        at: row.at.toISOString(),
        task,
        ...(row.run_id === null ? {} : { run: row.run_id }),
        type: row.type,
        data: row.data,
      }) as Event,
  )
}
