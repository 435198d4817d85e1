import type { NewEvent } from '../../domain/event/event.ts'
import type { MoveName } from '../../domain/task/task.ts'
import type { Tx } from '../../store/database.ts'
import type { MoveChanges, Moved } from '../../store/tasks.ts'
import type { Recorded } from '../journal/journal.ts'

/** A transaction of the journal in which tasks are moved. */
export interface Moving {
  readonly tx: Tx
  readonly record: (entry: Recorded) => void
  readonly at: Date
}

export type { Moved }

export type Move = (
  moving: Moving,
  id: string,
  name: MoveName,
  change: MoveChanges & { event: NewEvent },
) => Promise<Moved | undefined>

/** What follows for others when a task has ended, in the same transaction. It moves them with the `move` that it is given. */
export interface Consequence {
  readonly name: string
  readonly when: (moved: Moved) => boolean
  readonly apply: (moving: Moving, moved: Moved, move: Move) => Promise<void>
}
