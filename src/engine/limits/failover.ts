import type { Tx } from '../../store/database.ts'
import type { TaskRow } from '../../store/tables.ts'

/** Gives the task to the next agent of its failover list whose account is free, with its conversation to be rebuilt. Undefined if there is none. */
export async function failOver(_tx: Tx, _task: TaskRow, _at: Date): Promise<{ from: string; to: string } | undefined> {
  return undefined
}
