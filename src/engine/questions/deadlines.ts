import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { QuestionSettings } from '../../domain/question/settings.ts'
import type { NewTask, TaskView } from '../../domain/view/view.ts'
import { type Db, isPassing } from '../../store/database.ts'
import { dueQuestions, endedEscalations, lockQuestion, nextDeadline } from '../../store/deadlines.ts'
import { expireQuestion, findQuestion } from '../../store/questions.ts'
import type { QuestionRow } from '../../store/tables.ts'
import { findTask, type LockedTask, lockTask } from '../../store/tasks.ts'
import type { Caller } from '../auth/audit.ts'
import type { Bus } from '../journal/bus.ts'
import type { Journal } from '../journal/journal.ts'
import { type Moving, move } from '../tasks/move.ts'
import { applyAnswer } from './answer.ts'
import { answerFrom, escalate, nobodyAnswered } from './escalation.ts'

/** Does what is to happen to questions that nobody answers in time. Any process may do it; the row's lock lets one of them. */
export interface Deadlines {
  /** Looks once; answers how many questions were dealt with. */
  look(): Promise<number>
  start(): void
  stop(): Promise<void>
}

export interface DeadlineParts {
  readonly db: Db
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly settings: QuestionSettings
  readonly createTask: (
    task: NewTask,
    options: Caller & { readonly user: string; readonly idempotencyKey: string },
  ) => Promise<{ readonly task: Pick<TaskView, 'id'> }>
}

const lookEveryMs = 5_000
const leastWaitMs = 1_000

export function createDeadlines(parts: DeadlineParts): Deadlines {
  const { db, journal, bus, clock, log, settings } = parts
  let stopped = true
  let cancelTimer: (() => void) | undefined
  let looking: Promise<number> | undefined

  /** Decides about one question under its lock. False if there is nothing to decide any more. */
  const decide = (
    id: string,
    taskId: string,
    decision: (moving: Moving, question: QuestionRow, task: LockedTask | undefined) => Promise<boolean>,
  ) =>
    journal.transact('question.deadline', async (tx, record) => {
      const at = new Date(clock.now())
      const task = await lockTask(tx, taskId)
      const question = await lockQuestion(tx, id)
      return question?.state === 'pending' ? decision({ tx, record, at }, question, task) : false
    })
  const answered = (id: string, taskId: string, answer: string, by: string, isDue = true) =>
    decide(id, taskId, async (moving, question, task) => {
      if (isDue && !isPast(question, moving.at)) return false
      return applyAnswer(moving, question, task, { answer, by, grantsLastMs: settings.grantsLastMs })
    })

  const handle = async (id: string): Promise<boolean> => {
    const question = await findQuestion(db, id)
    if (question?.state !== 'pending') return false
    const then = question.after_deadline ?? { kind: 'deny' as const }
    switch (then.kind) {
      case 'deny':
        return answered(id, question.task_id, nobodyAnswered(question), 'deadline')
      case 'proceed':
        return answered(id, question.task_id, then.answer, 'deadline')
      case 'escalate':
        return passOn(question, then)
      case 'fail':
        return decide(id, question.task_id, async (moving, current) => {
          if (!isPast(current, moving.at)) return false
          return fail(moving, current)
        })
    }
  }

  /** An agent that cannot be asked is like one that does not answer. */
  const passOn = async (question: QuestionRow, to: { agent?: string | undefined; webhook?: string | undefined }) => {
    const task = await findTask(db, question.task_id)
    if (!task) return false
    try {
      return await escalate(question, task, to, parts)
    } catch (error) {
      if (!(error instanceof PawlError) || error.code === 'unavailable' || error.code === 'internal') throw error
      log.warn('a question could not be passed on', { question: question.id, error: messageOf(error), reason: 'not_escalated' })
      return answered(question.id, question.task_id, nobodyAnswered(question), 'deadline')
    }
  }

  /** One that cannot be dealt with now does not hold up the others: the queue may be full for days. */
  const dealtWith = async (id: string, work: () => Promise<boolean>): Promise<number> => {
    try {
      if (!(await work())) return 0
    } catch (error) {
      if (isPassing(error)) throw error
      log.warn('a question will be looked at again', { question: id, error: messageOf(error) })
      return 0
    }
    bus.tell('answered', id)
    return 1
  }
  const collect = async (): Promise<number> => {
    let count = 0
    for (const { question: id, task, text } of await endedEscalations(db)) {
      const question = await findQuestion(db, id)
      if (!question) continue
      const answer = answerFrom(question, text)
      const by = answer ? task : 'deadline'
      count += await dealtWith(id, () => answered(id, question.task_id, answer ?? nobodyAnswered(question), by, false))
    }
    return count
  }

  const lookOnce = async (): Promise<number> => {
    let count = 0
    for (const id of await dueQuestions(db, new Date(clock.now()))) count += await dealtWith(id, () => handle(id))
    count += await collect()
    if (count > 0) bus.tell('admission')
    return count
  }
  const look = () => {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    return looking
  }
  const tick = () => {
    if (stopped) return
    look()
      .catch((error: unknown) => log.warn('deadlines will be looked at again', { error: String(error) }))
      .then(planTick)
  }
  const planTick = async () => {
    const next = await nextDeadline(db, new Date(clock.now())).catch(() => undefined)
    if (stopped) return
    const untilDue = next?.at ? next.at.getTime() - clock.now() + 1 : lookEveryMs
    cancelTimer?.()
    cancelTimer = clock.after(next?.isEscalated ? leastWaitMs : Math.max(Math.min(untilDue, lookEveryMs), leastWaitMs), tick)
  }
  const unhear = bus.on('asked', () => stopped || void planTick())

  return {
    look,
    start() {
      stopped = false
      tick()
    },
    async stop() {
      stopped = true
      cancelTimer?.()
      unhear()
      await looking?.catch(() => undefined)
    },
  }
}

const isPast = ({ deadline }: QuestionRow, at: Date) => deadline !== null && deadline.getTime() <= at.getTime()

async function fail(moving: Moving, question: QuestionRow): Promise<boolean> {
  const { tx, record } = moving
  await expireQuestion(tx, question.id)
  const message = `Nobody answered question ${question.id} by ${question.deadline?.toISOString()}, and the task is to fail then.`
  const event = { type: 'task.failed', data: { category: 'unanswered', message } } as const
  record({ task: question.task_id, event: { type: 'question.closed', data: { questionId: question.id, state: 'expired' } } })
  const moved = await move(moving, question.task_id, 'fail_waiting', { reason: { kind: 'unanswered', detail: message }, event })
  return moved !== undefined
}
