import { conflict, invalid, notFound } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { rankOf, type TaskState } from '../domain/task.ts'
import type { NewTask, Page, TaskSummary, TaskView } from '../domain/view.ts'
import { whatItWaitsFor } from '../store/admission.ts'
import { insertAudit } from '../store/audit.ts'
import * as questions from '../store/questions.ts'
import { runsOfTask } from '../store/runs.ts'
import * as tasks from '../store/tasks.ts'
import type { Limits } from './admission.ts'
import { newAnswers } from './answers.ts'
import type { Bus } from './bus.ts'
import { type TaskCreatorParts, taskCreator } from './create-task.ts'
import type { Audit, Caller } from './entrance/audit.ts'
import { guarded } from './guarded.ts'
import type { Journal } from './journal.ts'
import { dropQuestions, move } from './move.ts'
import { taskSummary, taskView } from './views.ts'

export interface TaskVerbs {
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
  /** Events after number `after`, at most `limit`. */
  readEvents(task: string, options: { after: number; limit: number }): Promise<Event[]>
  /** Batches of events after `after` as they become durable, without gap or repeat, until the signal aborts. Rejects at once for an unknown task. */
  followEvents(task: string, options: { after: number; signal: AbortSignal }): AsyncIterable<Event[]>
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

export interface TaskVerbParts extends TaskCreatorParts {
  readonly journal: Journal
  readonly bus: Bus
  readonly audit: Audit
  /** So that a queued task can say that it waits for a slot. */
  readonly limits?: Limits
}

export function taskVerbs(parts: TaskVerbParts): TaskVerbs {
  const { db, journal, bus, clock, audit } = parts
  const now = () => new Date(clock.now())
  const create = taskCreator(parts)

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

  return {
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
          const event = { type: 'task.cancelled', data: { by } } as const
          const moving = { tx, record, at: now() }
          if (!(await move(moving, id, 'cancel_waiting', { reason: { kind: 'cancelled' }, event }))) {
            if (!(await tasks.requestCancel(tx, id, { now: atOnce, by, at: now() }))) return
            record({ task: id, event: { type: 'task.cancel_requested', data: { now: atOnce, by } } })
          }
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
          const moving = { tx, record, at: now() }
          const moved = await move(moving, id, 'retry', {
            reason: null,
            continuation,
            attempts: 0,
            rank: rankOf(clock.now(), before.priority),
            result: null,
            event: { type: 'task.requeued', data: { why: 'again', ...(fresh ? { detail: 'with a new conversation' } : {}) } },
          })
          if (!moved) throw conflict(`Task ${id} is ${before.state}; only a task that has come to rest can be retried.`)
          await dropQuestions(moving, id)
          await insertAudit(tx, audit.entry(caller, 'task.retry', id, { fresh }))
        }),
      )
      bus.tell('admission')
      return view(id)
    },

    async readEvents(task, page) {
      await existing(task)
      return guarded(() => journal.read(task, page))
    },

    async *followEvents(task, { after, signal }) {
      await existing(task)
      yield* journal.follow(task, { after, signal })
    },
  }
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
