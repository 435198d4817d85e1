import { isEnded, moves, type TaskState } from '../../../../src/domain/task/task.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'

export const actions = ['cancel', 'resume', 'retry', 'edit', 'remove'] as const
export type Action = (typeof actions)[number]

/** Why an action cannot be done now; undefined where it can. The daemon decides in the end. */
export function whyNot(task: Pick<TaskView, 'state' | 'subtasks'>): Record<Action, string | undefined> {
  const { state, subtasks } = task
  const hasEnded = isEnded(state)
  const open = subtasks.find((subtask) => !isEnded(subtask.state))
  return {
    cancel: hasEnded ? 'It cannot be cancelled: it has ended.' : undefined,
    resume: state === 'parked' ? undefined : 'It cannot be resumed: it is not parked.',
    retry: (moves.retry.from as readonly TaskState[]).includes(state)
      ? undefined
      : 'It can be tried again, with more budget or time too, when it has come to rest.',
    edit: hasEnded || state === 'running' ? 'Its name, priority and tags can be changed while it waits, not now.' : undefined,
    remove: !hasEnded
      ? 'It can be deleted when it has ended.'
      : open
        ? `It cannot be deleted: its subtask ${open.name ?? open.id} is ${open.state}.`
        : undefined,
  }
}
