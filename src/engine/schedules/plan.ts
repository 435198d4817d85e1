import { jitterOf, nextTime } from '../../domain/schedule/next-time.ts'
import type { ScheduleRow } from '../../store/tables.ts'

export type Plan = Pick<ScheduleRow, 'state' | 'next_due_at' | 'next_at'>

/** When a schedule is due next after a moment, and when that is acted upon. One that is never due again is done. */
export function planOf(row: Pick<ScheduleRow, 'id' | 'timing' | 'since' | 'jitter_ms'>, after: number): Plan {
  if (row.timing.kind === 'idle') return { state: 'active', next_due_at: null, next_at: null }
  const due = nextTime(row.timing, { after, since: row.since.getTime() })
  if (due === undefined) return { state: 'done', next_due_at: null, next_at: null }
  return { state: 'active', next_due_at: new Date(due), next_at: new Date(fireTime(row, due)) }
}

/** When a tick that is due at that moment is acted upon. */
export const fireTime = (row: Pick<ScheduleRow, 'id' | 'jitter_ms'>, due: number) => due + jitterOf(row.id, due, row.jitter_ms)
