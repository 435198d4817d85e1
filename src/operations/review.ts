import type { Clock } from '../base/clock.ts'
import { conflict, invalid, notFound } from '../domain/error.ts'
import { maxCommentChars } from '../domain/task/review.ts'
import { rankOf, shortfallOf } from '../domain/task/task.ts'
import type { TaskView } from '../domain/view/view.ts'
import type { Audit, Caller } from '../engine/auth/audit.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { Bus } from '../engine/journal/bus.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { move } from '../engine/tasks/move.ts'
import { takeResults } from '../engine/tasks/subtasks/tell-parent.ts'
import { insertAudit } from '../store/audit.ts'
import type { Tx } from '../store/database.ts'
import { type LockedTask, lockTask } from '../store/tasks.ts'

/** What a person says of work that waits for it. */
export interface ReviewVerbs {
  /** The work is good: the task is completed. Refused for a task that is not in review. */
  acceptTask(id: string, caller: Caller): Promise<TaskView>
  /** The work is to be changed: the task goes on with its conversation and hears the comment. Refused for a task that is not in review. */
  rejectTask(id: string, options: Caller & { comment: string }): Promise<TaskView>
}

export interface ReviewVerbParts {
  readonly journal: Journal
  readonly bus: Bus
  readonly clock: Clock
  readonly audit: Audit
}

export function reviewVerbs(parts: ReviewVerbParts, view: (id: string) => Promise<TaskView>): ReviewVerbs {
  const { journal, bus, clock, audit } = parts
  const now = () => new Date(clock.now())

  /** The task, kept as it is until the transaction ends. Refuses one that is not in review. */
  const inReview = async (tx: Tx, id: string, word: 'accept' | 'reject'): Promise<LockedTask> => {
    const task = await lockTask(tx, id)
    if (!task) throw notFound(`There is no task ${id}; "pawl ls" lists those there are.`)
    if (task.state === 'review') return task
    throw conflict(
      `Task ${id} is ${task.state}, not in review, so there is nothing to ${word}. "pawl ls --state review" lists those that wait.`,
    )
  }

  return {
    async acceptTask(id, caller) {
      await translateDbErrors(() =>
        journal.transact('task.accept', async (tx, record) => {
          const task = await inReview(tx, id, 'accept')
          const verified = task.result?.verified === true
          await move({ tx, record, at: now() }, id, 'accept', {
            // Whoever accepts a part of the work has decided that it is enough, also for what depends on it.
            reason: shortfallOf(task) === undefined ? task.reason : null,
            event: { type: 'task.completed', data: { verified, by: caller.by } },
          })
          await insertAudit(tx, audit.entry(caller, 'task.accept', id))
        }),
      )
      // Others may have waited for it.
      bus.tell('admission')
      return view(id)
    },

    async rejectTask(id, { comment: given, ...caller }) {
      const comment = given.trim()
      if (comment === '' || comment.length > maxCommentChars)
        throw invalid(`Say in 1 to ${maxCommentChars} characters what is to be changed; the agent is told.`)
      await translateDbErrors(() =>
        journal.transact('task.reject', async (tx, record) => {
          const task = await inReview(tx, id, 'reject')
          // Of subtasks after which a person looked first, the agent has not heard either.
          const results = task.untold_subtasks > 0 ? await takeResults(tx, task) : []
          await move({ tx, record, at: now() }, id, 'reject', {
            reason: null,
            attempts: 0,
            result: null,
            rank: rankOf(task.created_at.getTime(), task.priority),
            continuation: { kind: 'rejected', comment, after: task.fence, ...(results.length === 0 ? {} : { results }) },
            event: { type: 'task.requeued', data: { why: 'rejected', detail: comment } },
          })
          await insertAudit(tx, audit.entry(caller, 'task.reject', id))
        }),
      )
      bus.tell('admission')
      return view(id)
    },
  }
}
