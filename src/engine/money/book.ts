import type { Tx } from '../../store/database.ts'
import type { TaskRow } from '../../store/tables.ts'
import type { Ended } from '../retry.ts'

/** Writes what a run has used into the ledger, with its end: whatever was booked while it went on is completed, never counted twice. */
export async function bookRun(_tx: Tx, _run: { id: string; task: TaskRow }, _end: Ended, _at: Date): Promise<void> {}
