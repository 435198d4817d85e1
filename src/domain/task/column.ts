import { ended, type Reason, type TaskState } from './task.ts'

// Without the schema library on purpose: the page and the CLI import this file.

/** The columns of the board. Where a task stands is told by its facts and never set by hand. */
export const columns = ['working', 'needs_you', 'review', 'waiting', 'done'] as const
export type Column = (typeof columns)[number]

/** The states in which a task may be to stand there. A blocked one works while its own subtasks do, and needs somebody otherwise. */
export const statesOf = {
  working: ['running', 'blocked'],
  needs_you: ['blocked'],
  review: ['review'],
  waiting: ['created', 'queued', 'parked'],
  done: ended,
} as const satisfies Record<Column, readonly TaskState[]>

export function columnOf({ state, reason }: { readonly state: TaskState; readonly reason: Reason | null }): Column {
  if (state === 'blocked') return reason?.kind === 'subtasks' ? 'working' : 'needs_you'
  return columns.find((column) => (statesOf[column] as readonly TaskState[]).includes(state))!
}

/** By what a list is ordered, the newest first. */
export const taskSorts = ['created', 'updated', 'ended'] as const
export type TaskSort = (typeof taskSorts)[number]
