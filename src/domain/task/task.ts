import { type Shortfall, shortfalls } from '../run/outcome.ts'

// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** Every state a task can be in. docs/states.md draws the same table. */
export const taskStates = [
  'created',
  'queued',
  'running',
  'review',
  'blocked',
  'parked',
  'completed',
  'failed',
  'timed_out',
  'cancelled',
  'over_budget',
] as const
export type TaskState = (typeof taskStates)[number]

interface Move {
  readonly from: readonly TaskState[]
  readonly to: TaskState
  /** True if only the holder of the task's current fence may make it. */
  readonly fenced: boolean
}

const waiting = ['created', 'queued', 'blocked', 'parked', 'review'] as const
/** The states in which a task stays until somebody wants it again. */
export const ended = ['completed', 'failed', 'timed_out', 'cancelled', 'over_budget'] as const

/** The one table of moves. The store applies a move only where the task is in one of `from`, so a late writer loses cleanly. */
export const moves = {
  enqueue: { from: ['created'], to: 'queued', fenced: false },
  /** A task it depends on did only a part of its work: a person decides whether it starts, or that task is tried again and then lets it go. */
  hold_back: { from: ['created'], to: 'blocked', fenced: false },
  let_go: { from: ['blocked'], to: 'queued', fenced: false },
  admit: { from: ['queued'], to: 'running', fenced: false },
  complete: { from: ['running'], to: 'completed', fenced: true },
  hold_for_review: { from: ['running'], to: 'review', fenced: true },
  fail: { from: ['running'], to: 'failed', fenced: true },
  time_out: { from: ['running'], to: 'timed_out', fenced: true },
  stop_over_budget: { from: ['running'], to: 'over_budget', fenced: true },
  stop_cancelled: { from: ['running'], to: 'cancelled', fenced: true },
  block: { from: ['running'], to: 'blocked', fenced: true },
  park: { from: ['running'], to: 'parked', fenced: true },
  give_back: { from: ['running'], to: 'queued', fenced: true },
  wake: { from: ['parked'], to: 'queued', fenced: false },
  /** Its account is at its limit: it waits for the end of that, like those that met it. */
  put_off: { from: ['queued'], to: 'parked', fenced: false },
  answer: { from: ['blocked'], to: 'queued', fenced: false },
  accept: { from: ['review'], to: 'completed', fenced: false },
  reject: { from: ['review'], to: 'queued', fenced: false },
  /** The parent of subtasks that have all ended goes on with what they brought, or is looked at by a person. */
  continue_parent: { from: ['blocked'], to: 'queued', fenced: false },
  review_parent: { from: ['blocked'], to: 'review', fenced: false },
  /** What it waited for will not come: a task it depends on failed, nobody answered in time. */
  fail_waiting: { from: waiting, to: 'failed', fenced: false },
  cancel_waiting: { from: waiting, to: 'cancelled', fenced: false },
  retry: { from: [...ended, 'blocked', 'parked', 'review'], to: 'queued', fenced: false },
} as const satisfies Record<string, Move>
export type MoveName = keyof typeof moves

export const isEnded = (state: TaskState) => (ended as readonly TaskState[]).includes(state)
/** True when nothing happens to the task until somebody or some time says so. One that waits for its own subtasks goes on by itself. */
export const isAtRest = (state: TaskState, reason?: Reason | null) =>
  isEnded(state) || state === 'review' || state === 'parked' || (state === 'blocked' && reason?.kind !== 'subtasks')

/** Why a task is where it is: what it waits for, or what ended it. */
export interface Reason {
  kind: string
  detail?: string | undefined
}

/** Tells a task that did only a part of its work, or said nothing, from one that is done; undefined for all others, and once a person has accepted the work. */
export const shortfallOf = ({
  state,
  reason,
}: {
  readonly state: TaskState
  readonly reason?: Reason | null | undefined
}): Shortfall | undefined =>
  state === 'completed' || state === 'review' ? shortfalls.find((kind) => kind === reason?.kind) : undefined

/** Why a task waits for a person because of what it depends on, by how that ended. */
export const heldBackBy = { partial: 'dependency_partial', empty: 'dependency_empty' } as const satisfies Record<
  Shortfall,
  string
>
export const isHeldBack = ({ state, reason }: { readonly state: TaskState; readonly reason?: Reason | null | undefined }) =>
  state === 'blocked' && Object.values<string>(heldBackBy).includes(reason?.kind ?? '')

/** The state as people read it: `timed out`, and `completed (partial)` rather than `completed` for what is not done. */
export const stateInWords = (task: {
  readonly state: TaskState
  readonly reason?: Reason | null | undefined
  readonly shortfall?: Shortfall | undefined
}): string => {
  const short = task.shortfall ?? shortfallOf(task)
  return `${task.state.replaceAll('_', ' ')}${short === undefined ? '' : ` (${short})`}`
}

export const priorities = { high: 1, normal: 0, low: -1 } as const

/** Where the agent works: in the folder itself, in a copy from which changes are brought back, or in a clone of the repository with a branch of its own. */
export const workspaceModes = ['direct', 'copy', 'clone'] as const
export interface WorkspaceHow {
  readonly mode: (typeof workspaceModes)[number]
  readonly bringBack?: 'branch'
}

export const maxPromptBytes = 10_000_000
/** A longer prompt lies in a file of the session, and the agent's program is told where: what a model is sent should be what it must read at once. */
export const maxInlineBytes = 200 * 1024

const hourMs = 3_600_000
/** Lower runs first. One step of priority is worth one hour of waiting, so age catches up and nobody starves. */
export const rankOf = (queuedAtMs: number, priority: number) => queuedAtMs - priority * hourMs

/** The exit code of `pawl run` for a task that has come to rest. */
export function exitCodeOf(task: { state: TaskState; reason?: Reason | null | undefined }): number {
  switch (task.state) {
    case 'completed':
      return shortfallOf(task) === undefined ? 0 : 1
    case 'review':
      return 0
    case 'failed':
      return task.reason?.kind === 'checks_failed' ? 5 : 1
    case 'blocked':
      return 3
    case 'over_budget':
      return 4
    case 'parked':
      return 75
    case 'timed_out':
      return 124
    case 'cancelled':
      return 130
    case 'created':
    case 'queued':
    case 'running':
      return 1
  }
}
