import { TaskState } from '@a2a-js/sdk'
import { type Stage, stages } from '../../domain/task/stage.ts'

const states = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  input_required: TaskState.TASK_STATE_INPUT_REQUIRED,
  auth_required: TaskState.TASK_STATE_AUTH_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
} as const satisfies Record<Stage, TaskState>

export const stateAt = (stage: Stage): TaskState => states[stage]

/** Undefined for the states that no task of ours is ever in. */
export const stageAt = (state: TaskState): Stage | undefined => stages.find((stage) => states[stage] === state)
