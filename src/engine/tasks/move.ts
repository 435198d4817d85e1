import type { NewEvent } from '../../domain/event/event.ts'
import type { Totals } from '../../domain/money/totals.ts'
import { isEnded, type MoveName } from '../../domain/task/task.ts'
import { totalsOfTask } from '../../store/ledger.ts'
import { type MoveChanges, moveTask } from '../../store/tasks.ts'
import { consequences } from './consequences.ts'
import type { Moved, Moving } from './moving.ts'

export type { Moved, Moving }

/**
 * Moves a task that exists, says so in its journal, and does what follows from it for others, all in one transaction. Undefined if somebody else was first:
 * then nothing is written. Whoever moves tasks in the engine does it here; admission and the end of a run have their own first half, and then `afterMove`.
 */
export async function move(
  moving: Moving,
  id: string,
  name: MoveName,
  change: MoveChanges & { event: NewEvent },
): Promise<Moved | undefined> {
  const { event, ...changes } = change
  const moved = await moveTask(moving.tx, id, name, { ...changes, at: moving.at })
  if (!moved) return undefined
  moving.record({ task: id, event: closes(moved.state) ? withTotals(event, await totalsOfTask(moving.tx, id)) : event })
  await afterMove(moving, moved)
  return moved
}

/** Does what the end of a task means for others. */
export async function afterMove(moving: Moving, moved: Moved): Promise<void> {
  if (!isEnded(moved.state)) return
  for (const { when, apply } of consequences) if (when(moved)) await apply(moving, moved, move)
}

const closes = (state: Moved['state']) => isEnded(state) || state === 'review'

/** The last event of a task says what all its runs came to. */
export function withTotals(event: NewEvent, totals: Totals | undefined): NewEvent {
  switch (event.type) {
    case 'task.completed':
      return { type: event.type, data: { ...event.data, totals } }
    case 'task.review':
      return { type: event.type, data: { ...event.data, totals } }
    case 'task.failed':
    case 'task.timed_out':
      return { type: event.type, data: { ...event.data, totals } }
    case 'task.cancelled':
      return { type: event.type, data: { ...event.data, totals } }
    case 'task.over_budget':
      return { type: event.type, data: { ...event.data, totals } }
    default:
      return event
  }
}
