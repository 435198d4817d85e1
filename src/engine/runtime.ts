import { conflict, invalid, notFound } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { Answer } from '../domain/question.ts'
import { rankOf, type TaskState } from '../domain/task.ts'
import type { AgentView, HealthView, NewTask, Page, QuestionView, TaskSummary, TaskView } from '../domain/view.ts'
import { whatItWaitsFor } from '../store/admission.ts'
import { insertAudit } from '../store/audit.ts'
import { findHalt } from '../store/halt.ts'
import * as questions from '../store/questions.ts'
import { runsOfTask } from '../store/runs.ts'
import * as tasks from '../store/tasks.ts'
import type { Limits } from './admission.ts'
import { newAnswers } from './answers.ts'
import type { Bus } from './bus.ts'
import { type TaskCreatorParts, taskCreator } from './create-task.ts'
import type { Audit, Caller } from './entrance/audit.ts'
import { type HaltVerbs, haltVerbs, haltView } from './entrance/halt-verbs.ts'
import { guarded } from './guarded.ts'
import type { Journal } from './journal.ts'
import { type ProfileVerbParts, type ProfileVerbs, profileVerbs } from './rights/verbs.ts'
import { type SessionVerbParts, type SessionVerbs, sessionVerbs } from './session-verbs.ts'
import { type SkillVerbs, skillVerbs } from './skills/verbs.ts'
import { questionView, taskSummary, taskView } from './views.ts'
import { type WorkspaceVerbs, workspaceVerbs } from './workspace/verbs.ts'

export type { Caller } from './entrance/audit.ts'

/** The verbs every surface calls. They decide; surfaces only translate. Each refuses with a `PawlError`. */
export interface Runtime extends SessionVerbs, HaltVerbs, ProfileVerbs, SkillVerbs, WorkspaceVerbs {
  /** Durable when it resolves. The same key with the same body gives the same task; with another body, `conflict`. */
  createTask(
    task: NewTask,
    options: Caller & { idempotencyKey?: string | undefined },
  ): Promise<{ task: TaskView; created: boolean }>
  getTask(id: string): Promise<TaskView>
  /** Newest first. `cursor` is the `next` of an earlier page. */
  listTasks(filter: TaskFilter): Promise<Page<TaskSummary>>
  /** Ends a waiting task at once and a running one with grace, or without it if `now`. Cancelling twice is fine; an ended task is left as it is. */
  cancelTask(id: string, options: Caller & { now: boolean }): Promise<TaskView>
  /** Queues a task that has come to rest again: its conversation goes on, or starts anew if `fresh`. */
  retryTask(id: string, options: Caller & { fresh: boolean }): Promise<TaskView>
  listQuestions(filter: { state?: QuestionView['state'] | undefined; task?: string | undefined }): Promise<QuestionView[]>
  /** Stores the answer and, if nothing else is asked, queues the task in one step. Answering again with the same text is fine, with another is a `conflict`. */
  answerQuestion(id: string, answer: string, caller: Caller): Promise<QuestionView>
  /** Events after number `after`, at most `limit`. */
  readEvents(task: string, options: { after: number; limit: number }): Promise<Event[]>
  /** Batches of events after `after` as they become durable, without gap or repeat, until the signal aborts. Rejects at once for an unknown task. */
  followEvents(task: string, options: { after: number; signal: AbortSignal }): AsyncIterable<Event[]>
  listAgents(): Promise<AgentView[]>
  health(): Promise<HealthView>
  /** Resolves if work can be taken; rejects with `unavailable` and the reason if not. */
  ready(): Promise<void>
}

export interface TaskFilter {
  readonly states?: readonly TaskState[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly text?: string | undefined
  readonly session?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface RuntimeParts extends TaskCreatorParts, SessionVerbParts, ProfileVerbParts {
  readonly journal: Journal
  readonly bus: Bus
  readonly audit: Audit
  /** So that a queued task can say that it waits for a slot. */
  readonly limits?: Limits
  readonly describeAgents: () => Promise<AgentView[]>
  readonly describeSelf: () => Promise<Omit<HealthView, 'tasks' | 'halt'>>
}

export function createRuntime(parts: RuntimeParts): Runtime {
  const { db, journal, bus, clock, audit } = parts
  const now = () => new Date(clock.now())

  const existing = async (id: string) => {
    const task = await guarded(() => tasks.findTask(db, id))
    if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
    return task
  }
  const view = async (id: string) => {
    const [task, runs, asked] = await guarded(() =>
      Promise.all([existing(id), runsOfTask(db, id), questions.questionsOfTask(db, id)]),
    )
    const reason = task.reason ?? (task.state === 'queued' ? await guarded(() => whatItWaitsFor(db, task, parts.limits)) : null)
    return taskView({ ...task, reason }, runs, asked)
  }
  const closeQuestions = async (
    tx: Parameters<Parameters<Journal['transact']>[1]>[0],
    record: Parameters<Parameters<Journal['transact']>[1]>[1],
    task: string,
  ) => {
    for (const questionId of await questions.closeQuestions(tx, task))
      record({ task, event: { type: 'question.closed', data: { questionId, state: 'cancelled' } } })
  }

  const create = taskCreator(parts)

  const runtime: Runtime = {
    ...sessionVerbs(parts, (id, options) => runtime.cancelTask(id, options)),
    ...profileVerbs(parts),
    ...skillVerbs(parts),
    ...workspaceVerbs(parts),
    ...haltVerbs(parts, (id, options) => runtime.cancelTask(id, options)),

    async createTask(input, { idempotencyKey, ...caller }) {
      const made = await create(input, idempotencyKey, caller)
      if (!made.isNew) return { task: await view(made.row.id), created: false }
      journal.announce(made.row.id)
      bus.tell('queued')
      return { task: taskView(made.row, [], []), created: true }
    },

    getTask: view,

    async listTasks(filter) {
      const before = filter.cursor === undefined ? undefined : readCursor(filter.cursor)
      const rows = await guarded(() => tasks.listTasks(db, { ...filter, limit: filter.limit + 1, before }))
      const items = rows.slice(0, filter.limit)
      const last = items.at(-1)
      return {
        items: items.map(taskSummary),
        next: rows.length > filter.limit && last ? writeCursor(last.created_at, last.id) : null,
      }
    },

    async cancelTask(id, { now: atOnce, ...caller }) {
      const { by } = caller
      await existing(id)
      await guarded(() =>
        journal.transact('task.cancel', async (tx, record) => {
          await tasks.lockTask(tx, id)
          const waiting = await tasks.moveTask(tx, id, 'cancel_waiting', { at: now(), reason: { kind: 'cancelled' } })
          if (waiting) {
            await closeQuestions(tx, record, id)
            record({ task: id, event: { type: 'task.cancelled', data: { by } } })
          } else if (await tasks.requestCancel(tx, id, { now: atOnce, by, at: now() })) {
            record({ task: id, event: { type: 'task.cancel_requested', data: { now: atOnce, by } } })
          } else return
          await insertAudit(tx, audit.entry(caller, 'task.cancel', id, { now: atOnce }))
        }),
      )
      bus.tell('cancel', id)
      return view(id)
    },

    async retryTask(id, { fresh, ...caller }) {
      const before = await existing(id)
      await guarded(() =>
        journal.transact('task.retry', async (tx, record) => {
          await tasks.lockTask(tx, id)
          const asked = await questions.questionsOfTask(tx, id)
          // An answer that no run has worked with yet is not lost by trying again, unless everything is to begin anew.
          const unheard = asked.filter((question) => question.state === 'answered' && !question.heard)
          if (fresh)
            await questions.markHeard(
              tx,
              unheard.map((question) => question.id),
            )
          const continuation = (fresh ? undefined : newAnswers(asked)) ?? ({ kind: 'retry', fresh } as const)
          const moved = await tasks.moveTask(tx, id, 'retry', {
            at: now(),
            reason: null,
            continuation,
            attempts: 0,
            rank: rankOf(clock.now(), before.priority),
            result: null,
          })
          if (!moved) throw conflict(`Task ${id} is ${before.state}; only a task that has come to rest can be retried.`)
          await closeQuestions(tx, record, id)
          await insertAudit(tx, audit.entry(caller, 'task.retry', id, { fresh }))
          record({
            task: id,
            event: { type: 'task.requeued', data: { why: 'again', ...(fresh ? { detail: 'with a new conversation' } : {}) } },
          })
        }),
      )
      bus.tell('admission')
      return view(id)
    },

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
          const moved = await tasks.moveTask(tx, question.task_id, 'answer', {
            at: now(),
            reason: null,
            attempts: 0,
            continuation: newAnswers(asked) ?? null,
            ...(task ? { rank: rankOf(task.created_at.getTime(), task.priority) } : {}),
          })
          if (moved) record({ task: question.task_id, event: { type: 'task.requeued', data: { why: 'answer' } } })
        }),
      )
      bus.tell('admission')
      return questionView((await guarded(() => questions.findQuestion(db, id)))!)
    },

    async readEvents(task, page) {
      await existing(task)
      return guarded(() => journal.read(task, page))
    },

    async *followEvents(task, { after, signal }) {
      await existing(task)
      yield* journal.follow(task, { after, signal })
    },

    listAgents: parts.describeAgents,
    async health() {
      const [self, counts, halt] = await guarded(() => Promise.all([parts.describeSelf(), tasks.countByState(db), findHalt(db)]))
      return { ...self, tasks: counts, halt: halt ? haltView(halt) : null }
    },
    async ready() {
      await guarded(() => tasks.countByState(db))
      await parts.assertRoom()
    },
  }
  return runtime
}

const writeCursor = (at: Date, id: string) => Buffer.from(JSON.stringify([at.toISOString(), id])).toString('base64url')

function readCursor(cursor: string): { at: Date; id: string } {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as [string, string]
    const date = new Date(at)
    if (!Number.isNaN(date.getTime()) && typeof id === 'string') return { at: date, id }
  } catch {
    // Said below, together with a cursor that is JSON but not ours.
  }
  throw invalid('This cursor is not one that a list has given; leave it out to begin at the newest.')
}
