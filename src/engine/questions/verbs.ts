import type { Clock } from '../../clock.ts'
import { conflict, invalid, notFound } from '../../domain/error.ts'
import { Answer } from '../../domain/question.ts'
import { rankOf } from '../../domain/task.ts'
import type { QuestionView } from '../../domain/view.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Db } from '../../store/database.ts'
import * as questions from '../../store/questions.ts'
import * as tasks from '../../store/tasks.ts'
import { newAnswers } from '../answers.ts'
import type { Bus } from '../bus.ts'
import type { Audit, Caller } from '../entrance/audit.ts'
import { guarded } from '../guarded.ts'
import type { Journal } from '../journal.ts'
import { move } from '../move.ts'
import { questionView } from '../views.ts'

export interface QuestionVerbs {
  listQuestions(filter: { state?: QuestionView['state'] | undefined; task?: string | undefined }): Promise<QuestionView[]>
  /** Stores the answer and, if nothing else is asked, queues the task in one step. Answering again with the same text is fine, with another is a `conflict`. */
  answerQuestion(id: string, answer: string, caller: Caller): Promise<QuestionView>
}

export interface QuestionVerbParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly audit: Audit
}

export function questionVerbs({ db, journal, bus, clock, audit }: QuestionVerbParts): QuestionVerbs {
  const now = () => new Date(clock.now())
  return {
    async listQuestions(filter) {
      return (await guarded(() => questions.listQuestions(db, filter))).map(questionView)
    },

    async answerQuestion(id, answer, caller) {
      const { by } = caller
      const parsed = Answer.safeParse(answer)
      if (!parsed.success) throw invalid('An answer has between 1 and 65,536 characters.')
      const question = await guarded(() => questions.findQuestion(db, id))
      if (!question) throw notFound(`There is no question ${id}; "pawl task show" names those of a task.`)
      await guarded(() =>
        journal.transact('question.answer', async (tx, record) => {
          const task = await tasks.lockTask(tx, question.task_id)
          if (!(await questions.answerQuestion(tx, id, { answer, by, at: now() }))) {
            const current = await questions.findQuestion(tx, id)
            if (current?.state === 'answered' && current.answer === answer) return
            throw conflict(
              `Question ${id} is ${current?.state ?? 'gone'} already${current?.answer ? `: "${current.answer}"` : ''}.`,
            )
          }
          await insertAudit(tx, audit.entry(caller, 'question.answer', id, { task: question.task_id }))
          record({ task: question.task_id, event: { type: 'question.answered', data: { questionId: id, answer, by } } })
          const asked = await questions.questionsOfTask(tx, question.task_id)
          const next = asked.find((other) => other.state === 'pending')
          if (next) {
            if (task?.state === 'blocked')
              await tasks.setReason(tx, question.task_id, { kind: 'question', detail: next.id }, now())
            return
          }
          // A task that is still running takes the answers along when its run ends.
          await move({ tx, record, at: now() }, question.task_id, 'answer', {
            reason: null,
            attempts: 0,
            continuation: newAnswers(asked) ?? null,
            ...(task ? { rank: rankOf(task.created_at.getTime(), task.priority) } : {}),
            event: { type: 'task.requeued', data: { why: 'answer' } },
          })
        }),
      )
      bus.tell('admission')
      return questionView((await guarded(() => questions.findQuestion(db, id)))!)
    },
  }
}
