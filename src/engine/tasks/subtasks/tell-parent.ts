import { rankOf } from '../../../domain/task/task.ts'
import type { Tx } from '../../../store/database.ts'
import { takeUntold } from '../../../store/subtasks.ts'
import type { Continuation, SubtaskResult } from '../../../store/tables.ts'
import { findTask, type LockedTask, lockTask } from '../../../store/tasks.ts'
import type { Move, Moving } from '../moving.ts'
import { resultsOf, titleOf } from './results.ts'

/**
 * A subtask has ended: if it was the last one, its parent goes on with what they brought, or is looked at by a person. The parent is locked before its subtasks are
 * counted: of two that end at the same moment the later one sees both, so exactly one of them moves the parent. A task that has no subtasks never comes here.
 */
export async function tellParent(moving: Moving, parentId: string, subtaskId: string, move: Move): Promise<void> {
  const { tx, record } = moving
  const parent = await lockTask(tx, parentId)
  const ended = await findTask(tx, subtaskId)
  if (!parent || !ended) return
  record({
    task: parentId,
    event: { type: 'subtask.ended', data: { task: ended.id, name: titleOf(ended), state: ended.state } },
  })
  if (parent.state !== 'blocked' || parent.reason?.kind !== 'subtasks' || parent.open_subtasks > 0) return
  // Where checks must pass before anybody looks, only a run of its own can show that they do.
  if (parent.spec.subtasks?.whenDone === 'review' && !parent.spec.checks) {
    await move(moving, parentId, 'review_parent', { reason: null, event: { type: 'task.review', data: {} } })
    return
  }
  await move(moving, parentId, 'continue_parent', {
    reason: null,
    attempts: 0,
    rank: rankOf(parent.created_at.getTime(), parent.priority),
    continuation: { kind: 'subtasks', results: await takeResults(tx, parent) },
    event: { type: 'task.requeued', data: { why: 'subtasks' } },
  })
}

/** What the next run of a task is to be told of its subtasks. From now on it counts as told, so this belongs into the transaction that stores what is to be said. */
export const takeResults = async (tx: Tx, parent: LockedTask): Promise<SubtaskResult[]> => resultsOf(await takeUntold(tx, parent))

/** What a run of the task was to be told and may not have heard. */
export async function stillUnsaid(tx: Tx, task: LockedTask): Promise<Continuation | undefined> {
  const { continuation } = task
  if (continuation && continuation.kind !== 'answer' && continuation.kind !== 'retry') return continuation
  return task.untold_subtasks === 0 ? undefined : { kind: 'subtasks', results: await takeResults(tx, task) }
}
