import { sql } from 'kysely'
import type { AfterDeadline } from '../domain/question/policy.ts'
import { ended } from '../domain/task/task.ts'
import type { Db, Tx } from './database.ts'
import { jsonText } from './events.ts'
import type { QuestionRow } from './tables.ts'

/** Questions whose time is up. While the run that asked still goes on, only what answers them can be done. */
export async function dueQuestions(db: Db, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select q.id from pawl.questions q join pawl.tasks t on t.id = q.task_id
    where q.state = 'pending' and q.deadline <= ${now} and (t.state <> 'running' or q.after_deadline ->> 'kind' in ('deny', 'proceed'))
    order by q.deadline limit 100
  `.execute(db)
  return rows.map((row) => row.id)
}

/** When the next one is due, and whether another agent is at work on an answer. */
export async function nextDeadline(db: Db, now: Date): Promise<{ at: Date | undefined; isEscalated: boolean }> {
  const { rows } = await sql<{ at: Date | null; is_escalated: boolean }>`
    select (select min(deadline) from pawl.questions where state = 'pending' and deadline > ${now}) as at,
      exists (select 1 from pawl.questions where state = 'pending' and escalated_to is not null) as is_escalated
  `.execute(db)
  return { at: rows[0]?.at ?? undefined, isEscalated: rows[0]?.is_escalated ?? false }
}

/** The question as it is now, kept so until the transaction ends. Its task is locked before it. */
export async function lockQuestion(tx: Tx, id: string): Promise<QuestionRow | undefined> {
  const { rows } = await sql<QuestionRow>`select * from pawl.questions where id = ${id} for update`.execute(tx)
  return rows[0]
}

/** Somebody else is asked, and has until then. */
export async function escalateQuestion(
  tx: Tx,
  id: string,
  escalation: { task: string | undefined; until: Date; afterwards: AfterDeadline },
): Promise<void> {
  await sql`
    update pawl.questions set escalated_to = ${escalation.task ?? null}, deadline = ${escalation.until}, after_deadline = ${jsonText(escalation.afterwards)}::jsonb where id = ${id}
  `.execute(tx)
}

/** Is it the task of an agent that answers somebody else's question? */
export async function isEscalation(db: Db | Tx, task: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pawl.questions where escalated_to = ${task} limit 1`.execute(db)
  return rows.length === 1
}

/** Questions that wait for a task of another agent which has ended, and what it brought. */
export async function endedEscalations(db: Db): Promise<{ question: string; task: string; text: string | undefined }[]> {
  const { rows } = await sql<{ question: string; task: string; text: string | null }>`
    select q.id as question, t.id as task, case when t.state = 'completed' then t.result ->> 'text' end as text
    from pawl.questions q join pawl.tasks t on t.id = q.escalated_to
    where q.state = 'pending' and q.escalated_to is not null and t.state = any(${[...ended]}::text[]) limit 100
  `.execute(db)
  return rows.map(({ text, ...row }) => ({ ...row, text: text ?? undefined }))
}
