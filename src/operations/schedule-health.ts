import type { HealthView } from '../domain/view/view.ts'
import type { RefusedSchedule } from '../engine/schedules/refused.ts'
import type { Db } from '../store/database.ts'
import * as store from '../store/schedules.ts'
import { scheduleSummary } from './schedule-views.ts'

/** How the schedules are, for whoever looks at the whole. */
export async function schedulesHealth(
  db: Db,
  now: Date,
  refused: readonly RefusedSchedule[] = [],
): Promise<HealthView['schedules']> {
  const rows = await store.schedulesOf(db)
  const active = rows.filter(({ state }) => state !== 'done')
  const ticks = await store.ticksOf(
    db,
    rows.map(({ id }) => id),
  )
  return {
    refused: [...refused],
    active: active.filter(({ state }) => state === 'active').length,
    paused: active.filter(({ state }) => state === 'paused').length,
    unhealthy: rows
      .map((row) => scheduleSummary(row, ticks.get(row.id) ?? [], now))
      .filter(({ health }) => !health.healthy)
      .map(({ id, name, health }) => ({ id, name, failedInARow: health.failedInARow, detail: health.detail ?? '' })),
  }
}
