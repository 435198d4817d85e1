import type { TraceContext } from '../../domain/base/trace-context.ts'
import { conflict, notFound } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import type { Growing } from '../../domain/event/live-text.ts'
import type { NewListener } from '../../domain/notification/listener.ts'
import type { Column } from '../../domain/task/column.ts'
import { rankOf } from '../../domain/task/task.ts'
import type { NewTask, NewTasks, Page, TaskEdit, TaskRetry, TaskSummary, TaskView } from '../../domain/view/view.ts'
import type { Audit, Caller } from '../../engine/auth/audit.ts'
import { translateDbErrors } from '../../engine/base/translate-db-errors.ts'
import type { Doings } from '../../engine/base/working.ts'
import type { Blobs } from '../../engine/files/blobs.ts'
import { sweepFiles } from '../../engine/files/sweep.ts'
import type { Bus } from '../../engine/journal/bus.ts'
import type { Journal } from '../../engine/journal/journal.ts'
import type { Growths } from '../../engine/journal/live-text.ts'
import { costsOf } from '../../engine/money/task-cost.ts'
import { newAnswers } from '../../engine/questions/new-answers.ts'
import type { Limits } from '../../engine/queue/admission.ts'
import { interruptedTasks } from '../../engine/queue/interrupted.ts'
import { dropQuestions } from '../../engine/tasks/consequences.ts'
import { assertDependenciesDone } from '../../engine/tasks/dependencies.ts'
import { move } from '../../engine/tasks/move.ts'
import { cancelTree, whileItGrows } from '../../engine/tasks/subtasks/cancel-tree.ts'
import { subtasksBelow } from '../../engine/tasks/subtasks/results.ts'
import { stillUnsaid } from '../../engine/tasks/subtasks/tell-parent.ts'
import { lastAction } from '../../store/actions.ts'
import { insertAudit } from '../../store/audit.ts'
import { countArtifacts } from '../../store/files.ts'
import { keepKey } from '../../store/idempotency.ts'
import * as questions from '../../store/questions.ts'
import { runsOfTask } from '../../store/runs.ts'
import { dependenciesOf } from '../../store/task-relations.ts'
import * as tasks from '../../store/tasks.ts'
import { whatTheyWaitFor } from '../../store/waiting.ts'
import { type Origin, type TaskCreatorParts, taskCreator } from './create-task.ts'
import { deleteTree, removeRunFiles } from './delete-task.ts'
import { changeCaps, editTask } from './edit-task.ts'
import { countColumns, listTasks, type TaskFilter, type TaskNarrowing } from './list-tasks.ts'
import { ofRetry, ownKey } from './transcript.ts'
import { taskView } from './views.ts'

export interface TaskVerbs {
  /** Durable when it resolves. The same key with the same body gives the same task; with another body, `conflict`. Only the engine says which schedule it is of. */
  createTask(
    task: NewTask,
    options: Caller & {
      idempotencyKey?: string | undefined
      schedule?: string | undefined
      /** The span of whoever asks (`traceContextOf`); the task's span lies below it. */
      trace?: TraceContext | undefined
      /** Addresses that are told of it from its first event on. */
      listeners?: readonly NewListener[] | undefined
    },
  ): Promise<{ task: TaskView; created: boolean }>
  /** All of them or none; they may depend on each other by name. In the order of the request. */
  createTasks(
    tasks: NewTasks,
    options: Caller & { idempotencyKey?: string | undefined; trace?: TraceContext | undefined },
  ): Promise<{ tasks: TaskView[]; created: boolean }>
  /** Refuses what `createTask` would refuse; makes nothing. */
  checkTask(task: NewTask, caller: Caller): Promise<void>
  getTask(id: string): Promise<TaskView>
  /** Newest first, by what the filter names. `cursor` is the `next` of an earlier page. */
  listTasks(filter: TaskFilter): Promise<Page<TaskSummary>>
  /** How many stand in each column of the board. */
  countTasks(filter: TaskNarrowing): Promise<Record<Column, number>>
  /** Ends a waiting task at once and a running one with grace, or without it if `now`. Cancelling twice is fine; an ended task is left as it is. */
  cancelTask(id: string, options: Caller & { now: boolean }): Promise<TaskView>
  /** Queues a task that has come to rest again: its conversation goes on, or starts anew if `fresh`. It is held to all that it was held to, but for caps named here. */
  retryTask(id: string, options: Caller & TaskRetry & { idempotencyKey?: string | undefined }): Promise<TaskView>
  /** Changes how a task that waits is called, found and ranked. */
  editTask(id: string, edit: TaskEdit, caller: Caller): Promise<TaskView>
  /** Deletes an ended task for good, with its subtasks and all that is theirs. Answers how many tasks that were. */
  removeTask(id: string, caller: Caller): Promise<{ removed: string[] }>
  /** Events after number `after`, at most `limit`. */
  readEvents(task: string, options: { after: number; limit: number }): Promise<Event[]>
  /** Batches of events after `after` as they become durable, without gap or repeat, until the signal aborts. Rejects at once for an unknown task. */
  followEvents(
    task: string,
    options: { after: number; signal: AbortSignal; attends?: boolean | undefined; onGrowing?: OnGrowing | undefined },
  ): AsyncIterable<Event[]>
}

/**
 * Told what the agent is saying while it says it, at most ten times a second, and that nothing is being said any more. Best effort: only of an agent that runs in
 * the process which is asked, and nothing of it is stored.
 */
export type OnGrowing = (growing: Growing | undefined) => void

type OwnTaskOptions = Caller & { idempotencyKey?: string | undefined } & Origin

/** What the parts of the engine itself may ask as well. */
export interface OwnTaskVerbs extends TaskVerbs {
  createTask(task: NewTask, options: OwnTaskOptions): Promise<{ task: TaskView; created: boolean }>
}

export interface TaskVerbParts extends TaskCreatorParts {
  readonly journal: Journal
  readonly growths?: Growths | undefined
  readonly doings?: Doings | undefined
  readonly bus: Bus
  readonly audit: Audit
  /** What files hold; swept when the last task that has it is deleted. */
  readonly blobs?: Blobs | undefined
  /** So that a queued task can say that it waits for a slot. */
  readonly limits?: Limits
  /** Tasks run elsewhere, or nowhere: whether the process of a running one still lives is looked at. */
  readonly runsNothing?: boolean | undefined
}

export function taskVerbs(parts: TaskVerbParts): OwnTaskVerbs {
  const { db, journal, bus, clock, audit } = parts
  const now = () => new Date(clock.now())
  const create = taskCreator(parts)

  const existing = async (id: string) => {
    const task = await translateDbErrors(() => tasks.findTask(db, id))
    if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
    return task
  }
  const activityOf = ({ id, state }: Pick<TaskView, 'id' | 'state'>): TaskView['activity'] => {
    const doing = state === 'running' ? parts.doings?.get(id)?.() : undefined
    if (!doing) return null
    const since = new Date(clock.now() - (clock.monotonic() - doing.since)).toISOString()
    return { kind: doing.kind, name: doing.name === undefined ? null : doing.name, since }
  }
  const view = async (id: string) => {
    // First of all: whatever ended with it is seen by what is asked for later.
    const task = await translateDbErrors(() => existing(id))
    const [runs, asked, dependsOn, reason, subtasks, current, cost, artifacts, interrupted] = await translateDbErrors(() =>
      Promise.all([
        runsOfTask(db, id),
        questions.questionsOfTask(db, id),
        dependenciesOf(db, id),
        task.reason ??
          (task.state === 'queued' ? whatTheyWaitFor(db, [task], parts.limits, now()).then(([why]) => why ?? null) : null),
        task.has_subtasks ? subtasksBelow(db, id) : [],
        task.state === 'running' ? lastAction(db, id) : null,
        costsOf(db, task),
        task.fence > 0 ? countArtifacts(db, id) : 0,
        interruptedTasks(db, parts.runsNothing && task.state === 'running' ? [id] : [], now()),
      ]),
    )
    const shown = { ...task, reason, current, isInterrupted: interrupted.has(id) }
    return taskView(shown, runs, asked, dependsOn, subtasks, cost, artifacts, activityOf(task))
  }

  return {
    checkTask: create.check,

    async createTask(input, { idempotencyKey, schedule, replay, attachments, trace, listeners, ...caller }: OwnTaskOptions) {
      const made = await create(input, idempotencyKey, caller, { schedule, replay, attachments, trace, listeners })
      if (!made.isNew) return { task: await view(made.row.id), created: false }
      journal.announce(made.row.id)
      bus.tell('queued')
      return { task: input.dependsOn?.length ? await view(made.row.id) : taskView(made.row, [], []), created: true }
    },

    async createTasks(input, { idempotencyKey, trace, ...caller }) {
      const made = await create.together(input, idempotencyKey, caller, { trace })
      const created = made.some(({ isNew }) => isNew)
      if (created) {
        for (const { row } of made) journal.announce(row.id)
        bus.tell('queued')
      }
      // What was just made without any relation is known without asking.
      const seen = made.map(({ row, isNew }, n) =>
        isNew && !input.tasks[n]?.dependsOn?.length && !row.parent_id ? taskView(row, [], []) : view(row.id),
      )
      return { tasks: await Promise.all(seen), created }
    },

    getTask: view,

    listTasks: (filter) => listTasks(db, filter, { limits: parts.limits, now: now(), runsNothing: parts.runsNothing }),
    countTasks: (filter) => countColumns(db, filter),

    async cancelTask(id, { now: atOnce, ...caller }) {
      const { by } = caller
      await existing(id)
      const { asked } = await whileItGrows(() =>
        translateDbErrors(() =>
          journal.transact('task.cancel', async (tx, record) => {
            const cancelled = await cancelTree({ tx, record, at: now() }, id, { now: atOnce, by })
            if (cancelled.isChanged) await insertAudit(tx, audit.entry(caller, 'task.cancel', id, { now: atOnce }))
            return cancelled
          }),
        ),
      )
      for (const each of new Set([id, ...asked])) bus.tell('cancel', each)
      // Whatever waited for it may go on by itself.
      bus.tell('admission')
      return view(id)
    },

    async retryTask(id, { fresh = false, budget, timeoutMs, idempotencyKey, ...caller }) {
      await existing(id)
      await translateDbErrors(() =>
        journal.transact('task.retry', async (tx, record) => {
          await assertDependenciesDone(tx, id)
          const locked = await tasks.lockTask(tx, id)
          if (!locked) throw notFound(`Task ${id} was deleted meanwhile.`)
          const asked = await questions.questionsOfTask(tx, id)
          // An answer that no run has worked with yet is not lost by trying again, unless everything is to begin anew.
          const unheard = asked.filter((question) => question.state === 'answered' && !question.heard)
          if (fresh)
            await questions.markHeard(
              tx,
              unheard.map((question) => question.id),
            )
          const unsaid = fresh ? undefined : (newAnswers(asked) ?? (await stillUnsaid(tx, locked)))
          // Whoever begins anew is told of the subtasks with everything else.
          if (fresh) await stillUnsaid(tx, locked)
          const said = unsaid ?? ({ kind: 'retry', fresh } as const)
          const isCounted = said.kind === 'answer' || said.kind === 'subtasks' || locked.fence === 0
          const continuation = isCounted ? said : { ...said, after: locked.fence }
          const moving = { tx, record, at: now() }
          const moved = await move(moving, id, 'retry', {
            reason: null,
            continuation,
            attempts: 0,
            rank: rankOf(clock.now(), locked.priority),
            result: null,
            event: { type: 'task.requeued', data: { why: 'again', ...(fresh ? { detail: 'with a new conversation' } : {}) } },
          })
          if (!moved) throw conflict(`Task ${id} is ${locked.state}; only a task that has come to rest can be retried.`)
          await dropQuestions(moving, id)
          if (budget !== undefined || timeoutMs !== undefined)
            await changeCaps(tx, locked, { budget, timeoutMs }, caller.standing)
          if (idempotencyKey !== undefined)
            await keepKey(tx, { key: ownKey(caller, idempotencyKey), body_hash: ofRetry, task_id: id, created_at: moving.at })
          await insertAudit(
            tx,
            audit.entry(caller, 'task.retry', id, {
              fresh,
              ...(budget === undefined ? {} : { budget }),
              ...(timeoutMs === undefined ? {} : { timeoutMs }),
            }),
          )
        }),
      )
      bus.tell('admission')
      return view(id)
    },

    async editTask(id, edit, caller) {
      await existing(id)
      await translateDbErrors(() =>
        journal.transact('task.edit', (tx, record) => editTask({ tx, record, at: now() }, id, edit, { caller, audit })),
      )
      return view(id)
    },

    async removeTask(id, caller) {
      await existing(id)
      const { tasks: removed, runs } = await translateDbErrors(() =>
        journal.transact('task.delete', (tx) => deleteTree(tx, id, { caller, audit })),
      )
      // They are deleted, whatever happens to their files now: what is left of those goes at the next start.
      await removeRunFiles(db, parts.home, runs).catch(() => undefined)
      if (parts.blobs) await sweepFiles({ ...parts, blobs: parts.blobs }).catch(() => undefined)
      return { removed }
    },

    async readEvents(task, page) {
      await existing(task)
      return translateDbErrors(() => journal.read(task, page))
    },

    async *followEvents(task, { onGrowing, ...follow }) {
      await existing(task)
      const forget = onGrowing && parts.growths?.watch(task, onGrowing)
      try {
        yield* journal.follow(task, follow)
      } finally {
        forget?.()
      }
    },
  }
}
