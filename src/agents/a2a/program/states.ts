import type { TaskState } from '@a2a-js/sdk'

/** The states of a remote task, by the numbers that the library has for them. */
export const states = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  inputRequired: 6,
  rejected: 7,
  authRequired: 8,
} as const satisfies Record<string, TaskState>

const ends: ReadonlySet<number> = new Set([states.completed, states.failed, states.canceled, states.rejected])

/** Nothing more will come of it. */
export const isOver = (state: TaskState | undefined) => state !== undefined && ends.has(state)
