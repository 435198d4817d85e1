import type { Tx } from '../../store/database.ts'
import type { TaskRow } from '../../store/tables.ts'
import type { Ended } from '../retry.ts'

/** A run has met a limit of its account, or has shown that there is none any more: all tasks of the account go by it. */
export async function noteLimit(_tx: Tx, _task: TaskRow, _end: Ended, _at: Date): Promise<void> {}
