import type { TickState } from '../../domain/schedule/schedule.ts'
import type { Tx } from '../../store/database.ts'
import { endTick } from '../../store/schedules.ts'
import type { TaskRow } from '../../store/tables.ts'
import { findTask } from '../../store/tasks.ts'

/** By whom a task was cancelled whose schedule was due again. */
export const bySchedule = 'schedule'

/** Says of the tick that made a task what became of it, in the transaction that ends the task: nothing that failed can look as if it had not. */
export async function settleTick(tx: Tx, task: string, at: Date): Promise<void> {
  const row = await findTask(tx, task)
  if (row) await endTick(tx, task, { ...endOf(row), at })
}

export function endOf({ state, reason, result, cancel_by }: Pick<TaskRow, 'state' | 'reason' | 'result' | 'cancel_by'>): {
  state: TickState
  detail: string | null
} {
  const said = reason === null ? null : (reason.detail ?? `${reason.kind.replaceAll('_', ' ')}.`)
  switch (state) {
    case 'completed':
      if (reason?.kind === 'empty' || result?.outcome === 'empty')
        return { state: 'empty', detail: 'The agent ended well but said nothing.' }
      if (reason?.kind === 'partial') return { state: 'failed', detail: 'The agent did only a part of it.' }
      return { state: 'succeeded', detail: null }
    case 'cancelled':
      if (cancel_by === bySchedule || reason?.detail === bySchedule)
        return { state: 'failed', detail: 'It had not ended when the next was due, and was stopped for that.' }
      return { state: 'cancelled', detail: null }
    default:
      return {
        state: 'failed',
        detail: said === null ? `Its task ended as ${state.replaceAll('_', ' ')}.` : `${nameOf(state)}: ${said}`,
      }
  }
}

const nameOf = (state: TaskRow['state']) => (state === 'failed' ? 'Failed' : state === 'timed_out' ? 'Timed out' : 'Over budget')
