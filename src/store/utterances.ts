import { sql } from 'kysely'
import type { Event } from '../domain/event/event.ts'
import type { Db } from './database.ts'
import type { KeyRow } from './idempotency.ts'
import type { QuestionRow, TaskRow } from './tables.ts'

/** A task with what was asked and said in it, all of one moment. */
export interface Told {
  readonly task: TaskRow
  /** How far the journal of the task has come. */
  readonly seq: number
  readonly questions: readonly QuestionRow[]
  /** The newest of what was said, in its order. */
  readonly events: readonly Event[]
  /** With which messages came, in their order. */
  readonly keys: readonly Pick<KeyRow, 'key' | 'body_hash'>[]
  /** How many files it has left. */
  readonly artifacts: number
}

/** One statement sees one moment: whatever moves a task writes its event in the same transaction, so the events after `seq` are everything that is not in it yet. */
export async function readTold(db: Db, task: string, { last }: { last: number }): Promise<Told | undefined> {
  const { rows } = await sql<Row>`
    select t.*, h.seq as head,
      (select count(*) from pawl.artifacts where task_id = t.id) as artifacts,
      (select jsonb_agg(to_jsonb(q) order by q.asked_at, q.id) from pawl.questions q where q.task_id = t.id) as asked,
      (select jsonb_agg(jsonb_build_object('key', k.key, 'body_hash', k.body_hash) order by k.created_at, k.key)
        from pawl.idempotency_keys k where k.task_id = t.id) as keys,
      (select jsonb_agg(to_jsonb(e) order by e.seq) from (
        select seq, type, at, run_id, data from pawl.events
        where task_id = t.id and type in ('agent.message', 'message.sent', 'question.asked', 'question.answered')
        order by seq desc limit ${last}
      ) e) as said
    from pawl.tasks t join pawl.journal_heads h on h.task_id = t.id where t.id = ${task}
  `.execute(db)
  const [row] = rows
  if (!row) return undefined
  const { head, artifacts, asked, keys, said, ...rest } = row
  return {
    task: rest,
    seq: head,
    artifacts,
    keys: keys ?? [],
    questions: (asked ?? []).map(questionOf),
    events: (said ?? []).map((event) => eventOf(task, event)),
  }
}

interface Row extends TaskRow {
  readonly head: number
  readonly artifacts: number
  readonly asked: readonly AsJson<QuestionRow>[] | null
  readonly keys: Told['keys'] | null
  readonly said: readonly { seq: number; type: string; at: string; run_id: string | null; data: unknown }[] | null
}

/** Within JSON a time is text. */
type AsJson<T> = { [K in keyof T]: Date extends T[K] ? string | Exclude<T[K], Date> : T[K] }

const timeOf = (text: string | null) => (text === null ? null : new Date(text))

const questionOf = ({ asked_at, answered_at, deadline, ...rest }: AsJson<QuestionRow>): QuestionRow => ({
  ...rest,
  asked_at: new Date(asked_at),
  answered_at: timeOf(answered_at),
  deadline: timeOf(deadline),
})

const eventOf = (task: string, { seq, type, at, run_id, data }: NonNullable<Row['said']>[number]) =>
  ({ seq, at: new Date(at).toISOString(), task, ...(run_id === null ? {} : { run: run_id }), type, data }) as Event
