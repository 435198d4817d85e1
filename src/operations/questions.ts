import type { Clock } from '../base/clock.ts'
import { conflict, invalid, notFound } from '../domain/error.ts'
import { AnswerGiven } from '../domain/question/question.ts'
import { defaultQuestions, type QuestionSettings } from '../domain/question/settings.ts'
import type { QuestionView } from '../domain/view/view.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { assertMayAnswer } from '../engine/auth/may-answer.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Bus } from '../engine/journal/bus.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { answerText, applyAnswer } from '../engine/questions/answer.ts'
import { questionDigest } from '../engine/questions/digest.ts'
import { insertAudit } from '../store/audit.ts'
import type { Db } from '../store/database.ts'
import { keepKey } from '../store/idempotency.ts'
import * as questions from '../store/questions.ts'
import type { QuestionRow } from '../store/tables.ts'
import * as tasks from '../store/tasks.ts'
import { ofAnswer, ownKey } from './tasks/transcript.ts'
import { questionView } from './tasks/views.ts'

export interface QuestionFilter {
  readonly state?: QuestionView['state'] | undefined
  readonly task?: string | undefined
  /** Only such as were asked, answered or over since then. */
  readonly since?: string | undefined
}

export interface QuestionVerbs {
  listQuestions(filter: QuestionFilter): Promise<QuestionView[]>
  getQuestion(id: string): Promise<QuestionView>
  /**
   * Stores the answer and, if nothing else is asked, queues the task in one step; a run that waits for it hears it at once. It counts once: answering again with the same
   * words is fine, with others is a `conflict`, and so is an answer that names the digest of something else than what is asked. A key of the caller is kept with it.
   */
  answerQuestion(
    id: string,
    answer: string | AnswerGiven,
    caller: Caller & { idempotencyKey?: string | undefined },
  ): Promise<QuestionView>
}

export interface QuestionVerbParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly audit: Audit
  readonly questions?: QuestionSettings
}

export function questionVerbs(parts: QuestionVerbParts): QuestionVerbs {
  const { db, journal, bus, clock, audit, questions: settings = defaultQuestions } = parts
  const existing = async (id: string) => {
    const question = await translateDbErrors(() => questions.findQuestion(db, id))
    if (!question) throw notFound(`There is no question ${id}; "pawl questions" lists those that wait for an answer.`)
    return question
  }
  return {
    async listQuestions({ since, ...filter }) {
      const from = since === undefined ? undefined : new Date(since)
      return (await translateDbErrors(() => questions.listQuestions(db, { ...filter, since: from }))).map(questionView)
    },

    getQuestion: async (id) => questionView(await existing(id)),

    async answerQuestion(id, said, { idempotencyKey, ...caller }) {
      const parsed = AnswerGiven.safeParse(typeof said === 'string' ? { answer: said } : said)
      if (!parsed.success) throw invalid('An answer has between 1 and 65,536 characters, or numbers of options, or both.')
      const question = await existing(id)
      assertMayAnswer(question, caller)
      // Nothing of what is asked changes while it is open, so it need not be looked at under the lock.
      const { digest } = parsed.data
      if (digest !== undefined && digest !== questionDigest(question))
        throw conflict(
          `Question ${id} is not the one that you were shown (its digest is ${questionDigest(question)}); read it again before you answer.`,
        )
      const answer = answerText(question, parsed.data)
      await translateDbErrors(() =>
        journal.transact('question.answer', async (tx, record) => {
          const at = new Date(clock.now())
          const task = await tasks.lockTask(tx, question.task_id)
          const given = { answer, by: caller.by, grantsLastMs: settings.grantsLastMs }
          if (await applyAnswer({ tx, record, at }, question, task, given)) {
            const { task_id } = question
            if (idempotencyKey !== undefined)
              await keepKey(tx, { key: ownKey(caller, idempotencyKey), body_hash: ofAnswer(id), task_id, created_at: at })
            return insertAudit(tx, audit.entry(caller, 'question.answer', id, { task: task_id }))
          }
          const current = await questions.findQuestion(tx, id)
          if (current?.state !== 'answered' || current.answer !== answer) throw tooLate(id, current)
        }),
      )
      bus.tell('admission')
      bus.tell('answered', id)
      return questionView(await existing(id))
    },
  }
}

function tooLate(id: string, question: QuestionRow | undefined) {
  switch (question?.state) {
    case 'answered':
      return conflict(
        `Question ${id} is answered already, by ${question.answered_by} at ${question.answered_at?.toISOString()}: "${question.answer}".`,
      )
    case 'expired':
      return conflict(`Question ${id} was to be answered by ${question.deadline?.toISOString()}; it is too late.`)
    default:
      return conflict(`Question ${id} needs no answer any more: its task has gone on or ended without it.`)
  }
}
