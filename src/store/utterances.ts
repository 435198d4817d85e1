import { sql } from 'kysely'
import type { Event } from '../domain/event.ts'
import type { Db } from './database.ts'

/** The newest of what was said in a task, in its order, and how far the journal of the task has come: both of one moment. */
export async function readUtterances(
  db: Db,
  task: string,
  { last }: { last: number },
): Promise<{ seq: number; events: Event[] } | undefined> {
  const { rows } = await sql<Row>`
    select h.seq as head, e.seq, e.type, e.at, e.run_id, e.data from pawl.journal_heads h
    left join lateral (
      select seq, type, at, run_id, data from pawl.events
      where task_id = h.task_id and type in ('agent.message', 'message.sent', 'question.asked', 'question.answered')
      order by seq desc limit ${last}
    ) e on true
    where h.task_id = ${task} order by e.seq
  `.execute(db)
  const [first] = rows
  if (!first) return undefined
  return { seq: first.head, events: rows.flatMap((row) => (row.seq === null ? [] : [eventOf(task, row)])) }
}

interface Row {
  readonly head: number
  readonly seq: number | null
  readonly type: string
  readonly at: Date
  readonly run_id: string | null
  readonly data: unknown
}

const eventOf = (task: string, { seq, type, at, run_id, data }: Row) =>
  ({ seq, at: at.toISOString(), task, ...(run_id === null ? {} : { run: run_id }), type, data }) as Event
