import { sql } from 'kysely'
import type { QuestionAsked } from '../domain/question.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'
import type { QuestionRow } from './tables.ts'

/** Stores a question of a run that still holds its fence; false if it does not. */
export async function insertQuestion(
  tx: Tx,
  question: QuestionAsked & { id: string; task: string; run: string; fence: number; at: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into pawl.questions (id, task_id, run_id, kind, text, options, state, asked_at)
    select ${question.id}, l.task_id, l.run_id, ${question.kind}, ${storableText(question.text)}, ${jsonText(question.options)}::jsonb, 'pending', ${question.at}
    from pawl.leases l where l.run_id = ${question.run} and l.fence = ${question.fence}
    returning id
  `.execute(tx)
  return rows.length === 1
}

export async function findQuestion(db: Db | Tx, id: string): Promise<QuestionRow | undefined> {
  return db.selectFrom('pawl.questions').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function questionsOfTask(db: Db | Tx, task: string): Promise<QuestionRow[]> {
  return db.selectFrom('pawl.questions').selectAll().where('task_id', '=', task).orderBy('asked_at').orderBy('id').execute()
}

export async function listQuestions(
  db: Db,
  filter: { state?: string | undefined; task?: string | undefined },
): Promise<QuestionRow[]> {
  let query = db.selectFrom('pawl.questions').selectAll().orderBy('asked_at').limit(500)
  if (filter.state !== undefined) query = query.where('state', '=', filter.state as QuestionRow['state'])
  if (filter.task !== undefined) query = query.where('task_id', '=', filter.task)
  return query.execute()
}

/** Answers a pending question; false if it is not pending any more. */
export async function answerQuestion(tx: Tx, id: string, options: { answer: string; by: string; at: Date }): Promise<boolean> {
  const { rows } = await sql`
    update pawl.questions set state = 'answered', answer = ${storableText(options.answer)}, answered_by = ${options.by}, answered_at = ${options.at}
    where id = ${id} and state = 'pending' returning id
  `.execute(tx)
  return rows.length === 1
}

/** Closes what a task still asks, because it goes on or ends without the answers. */
export async function closeQuestions(tx: Tx, task: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update pawl.questions set state = 'cancelled' where task_id = ${task} and state = 'pending' returning id
  `.execute(tx)
  return rows.map((row) => row.id)
}

/** A run has worked with these answers, or nobody wants them said any more: they need not be said again to a program that remembers. */
export async function markHeard(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`update pawl.questions set heard = true where id = any(${[...ids]}::text[])`.execute(tx)
}
