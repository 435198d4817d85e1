import type { Reason, TaskState } from './task.ts'

/** Where a task stands in the words that protocols between agents have for it. Told by its facts, as its column is. */
export const stages = ['submitted', 'working', 'input_required', 'auth_required', 'completed', 'failed', 'cancelled'] as const
export type Stage = (typeof stages)[number]

/** The states in which a task may be to stand there. A blocked one works while its own subtasks do; one that failed for want of a login goes on once there is one. */
export const statesAt = {
  submitted: ['created', 'queued'],
  working: ['running', 'parked', 'blocked'],
  input_required: ['blocked', 'review'],
  auth_required: ['failed'],
  completed: ['completed'],
  failed: ['failed', 'timed_out', 'over_budget'],
  cancelled: ['cancelled'],
} as const satisfies Record<Stage, readonly TaskState[]>

export function stageOf({ state, reason }: { readonly state: TaskState; readonly reason: Reason | null }): Stage {
  if (state === 'blocked') return reason?.kind === 'subtasks' ? 'working' : 'input_required'
  if (state === 'failed') return reason?.kind === 'auth_failed' ? 'auth_required' : 'failed'
  return stages.find((stage) => (statesAt[stage] as readonly TaskState[]).includes(state))!
}

/** Nothing more becomes of a task that stands there, unless a person has it tried again. */
export const isTerminal = (stage: Stage) => stage === 'completed' || stage === 'failed' || stage === 'cancelled'
/** It goes on when whoever asked for it does something. */
export const isInterrupted = (stage: Stage) => stage === 'input_required' || stage === 'auth_required'
