import type { NewEvent } from '../../domain/event/event.ts'
import type { Totals } from '../../domain/money/totals.ts'
import { isEnded, type MoveName } from '../../domain/task/task.ts'
import type { Tx } from '../../store/database.ts'
import { totalsOfTask } from '../../store/ledger.ts'
import { closeQuestions } from '../../store/questions.ts'
import { type MoveChanges, type Moved, moveTask } from '../../store/tasks.ts'
import type { Recorded } from '../journal/journal.ts'
import { releaseDependents } from './dependencies.ts'
import { settleTick } from './settle-tick.ts'
import { tellParent } from './subtasks/tell-parent.ts'

/** A transaction of the journal in which tasks are moved. */
export interface Moving {
  readonly tx: Tx
  readonly record: (entry: Recorded) => void
  readonly at: Date
}

export type { Moved }

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

/** What the end of a task means for others. Locks go from a task to those that wait for it, never the other way. */
export async function afterMove(moving: Moving, moved: Moved): Promise<void> {
  if (!isEnded(moved.state)) return
  if (moved.is_asking) await dropQuestions(moving, moved.id)
  if (moved.has_dependents) await releaseDependents(moving, moved)
  if (moved.parent_id !== null) await tellParent(moving, moved.parent_id, moved.id)
  if (moved.schedule_id !== null) await settleTick(moving.tx, moved.id, moving.at)
}

const closes = (state: Moved['state']) => isEnded(state) || state === 'review'

/** The last event of a task says what all its runs came to. */
export function withTotals(event: NewEvent, totals: Totals | undefined): NewEvent {
  switch (event.type) {
    case 'task.completed':
      return { type: event.type, data: { ...event.data, totals } }
    case 'task.review':
      return { type: event.type, data: { totals } }
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

/** What a task still asks needs no answer any more. */
export async function dropQuestions({ tx, record }: Moving, task: string): Promise<void> {
  for (const questionId of await closeQuestions(tx, task))
    record({ task, event: { type: 'question.closed', data: { questionId, state: 'cancelled' } } })
}
