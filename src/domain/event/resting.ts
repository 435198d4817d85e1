import type { EventType } from './event.ts'

// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** The events after which a reader of one task may close: the task has come to rest. */
export const restingEvents: ReadonlySet<string> = new Set<EventType>([
  'task.completed',
  'task.review',
  'task.failed',
  'task.timed_out',
  'task.cancelled',
  'task.over_budget',
  'task.blocked',
  'task.parked',
])

/** True of an event with which a task comes to rest. */
export const isRestingEvent = ({ type, data }: { readonly type: string; readonly data: unknown }) =>
  restingEvents.has(type) && !(type === 'task.blocked' && (data as { kind?: unknown }).kind === 'subtasks')
