import { sql } from 'kysely'
import type { AfterDeadline } from '../domain/question/policy.ts'
import type { ExactCall, QuestionAsked, QuestionKind } from '../domain/question/question.ts'
import type { Statements } from './at-once.ts'
import type { Db, Tx } from './database.ts'
import { jsonText, storableText } from './events.ts'
import type { QuestionRow } from './tables.ts'

export interface QuestionToInsert extends Omit<QuestionAsked, 'kind'> {
  readonly kind: QuestionKind
  readonly id: string
  readonly task: string
  readonly run: string
  readonly fence: number
  readonly at: Date
  readonly call?: ExactCall | undefined
  /** The run waits for the answer. */
  readonly isHeld: boolean
  readonly mayAnswer?: readonly string[] | undefined
  readonly deadline?: Date | undefined
  readonly afterDeadline?: AfterDeadline | undefined
}

/** Stores a question of a run that still holds its fence; false if it does not. */
export async function insertQuestion(tx: Tx, question: QuestionToInsert): Promise<boolean> {
  const { rows } = await sql`
    insert into pawl.questions (id, task_id, run_id, kind, text, options, state, asked_at, multi_select, may_answer, deadline, after_deadline, held_by, call)
    select ${question.id}, l.task_id, l.run_id, ${question.kind}, ${storableText(question.text)}, ${jsonText(question.options)}::jsonb, 'pending', ${question.at},
      ${question.multiSelect === true}, ${question.mayAnswer ? [...question.mayAnswer] : null}::text[], ${question.deadline ?? null}, ${question.afterDeadline ? jsonText(question.afterDeadline) : null}::jsonb,
      ${question.isHeld ? question.fence : null}, ${question.call ? jsonText(question.call) : null}::jsonb
    from pawl.leases l where l.run_id = ${question.run} and l.fence = ${question.fence}
    returning id
  `.execute(tx)
  return rows.length === 1
}

export async function findQuestion(db: Db | Tx, id: string): Promise<QuestionRow | undefined> {
  return db.selectFrom('pawl.questions').selectAll().where('id', '=', id).executeTakeFirst()
}

/** In the order of the ids that were asked for. */
export async function findQuestions(db: Db | Tx, ids: readonly string[]): Promise<QuestionRow[]> {
  const { rows } = await sql<QuestionRow>`select * from pawl.questions where id = any(${[...ids]}::text[])`.execute(db)
  return ids.flatMap((id) => rows.find((row) => row.id === id) ?? [])
}

export async function questionsOfTask(db: Statements, task: string): Promise<QuestionRow[]> {
  const { rows } = await sql<QuestionRow>`select * from pawl.questions where task_id = ${task} order by asked_at, id`.execute(db)
  return rows
}

/** The oldest first. */
export async function listQuestions(
  db: Db,
  filter: { state?: QuestionRow['state'] | undefined; task?: string | undefined; since?: Date | undefined },
): Promise<QuestionRow[]> {
  const { state, task, since } = filter
  // Written out, because the index of those that wait is used only where the statement itself says that these are asked for.
  const chosen = sql`${state === undefined ? sql`true` : sql`state = ${sql.lit(state)}`} and ${task === undefined ? sql`true` : sql`task_id = ${task}`}`
  // Those of a time are found first, by their index: a walk in the order of asking would begin with the oldest of all. One that nobody answered was over at its deadline.
  const { rows } = await sql<QuestionRow>`
    ${since === undefined ? sql`` : sql`with lately as materialized (select * from pawl.questions where coalesce(answered_at, deadline, asked_at) >= ${since})`}
    select * from ${since === undefined ? sql`pawl.questions` : sql`lately`} where ${chosen} order by asked_at limit 500
  `.execute(db)
  return rows
}

/** Answers a pending question; false if it is not pending any more. */
export async function answerQuestion(tx: Tx, id: string, options: { answer: string; by: string; at: Date }): Promise<boolean> {
  const { rows } = await sql`
    update pawl.questions set state = 'answered', answer = ${storableText(options.answer)}, answered_by = ${options.by}, answered_at = ${options.at}
    where id = ${id} and state = 'pending' returning id
  `.execute(tx)
  return rows.length === 1
}

/** Has a run wait for the answer of a question that it asked before; a run that is over cannot. */
export async function holdQuestion(tx: Tx, id: string, fence: number): Promise<void> {
  await sql`update pawl.questions set held_by = ${fence} where id = ${id} and state = 'pending'`.execute(tx)
}

/** From here on the run does not wait any more. Answers those that it would have gone on waiting for: none if every answer came first. */
export async function releaseQuestions(db: Db | Tx, ids: readonly string[], fence: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update pawl.questions set held_by = null where id = any(${[...ids]}::text[]) and state = 'pending' and held_by = ${fence} returning id
  `.execute(db)
  return rows.map((row) => row.id)
}

/** Closes what a task still asks, because it goes on or ends without the answers. */
export async function closeQuestions(tx: Tx, task: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update pawl.questions set state = 'cancelled' where task_id = ${task} and state = 'pending' returning id
  `.execute(tx)
  return rows.map((row) => row.id)
}

/** Nobody answered in time, and nobody shall any more. */
export async function expireQuestion(tx: Tx, id: string): Promise<void> {
  await sql`update pawl.questions set state = 'expired' where id = ${id} and state = 'pending'`.execute(tx)
}

/** A run has worked with these answers, or nobody wants them said any more: they need not be said again to a program that remembers. */
export async function markHeard(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`update pawl.questions set heard = true where id = any(${[...ids]}::text[])`.execute(tx)
}
