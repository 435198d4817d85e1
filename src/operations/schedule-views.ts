import { healthOf } from '../domain/schedule/health.ts'
import { nextTime } from '../domain/schedule/next-time.ts'
import type { ScheduleSummary, ScheduleView, TickView } from '../domain/schedule/schedule.ts'
import { formatIn, ownTimeZone } from '../domain/schedule/time-zone.ts'
import { sayWhen } from '../domain/schedule/words.ts'
import { fireTime } from '../engine/schedules/plan.ts'
import type { ToldTickRow } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'

const time = (at: Date | null) => at?.toISOString() ?? null
const shownNext = 5

export function scheduleSummary(row: ScheduleRow, ticks: readonly ToldTickRow[], now: Date): ScheduleSummary {
  const told = ticks.map(tickView)
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    when: row.timing,
    says: sayWhen(row.timing),
    agent: row.task.agentConfig?.name ?? row.task.agent ?? null,
    prompt: row.task.prompt.slice(0, 200),
    session: row.session_mode,
    overlap: row.overlap,
    catchUp: row.catch_up,
    jitterMs: row.jitter_ms,
    nextAt: row.state === 'active' ? time(row.next_at) : null,
    lastTick: told[0] ?? null,
    health: healthOf(told, row.state === 'active' ? { dueAt: row.next_at, now } : undefined),
    user: row.user_name,
    source: row.source,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export function scheduleView(row: ScheduleRow, ticks: readonly ToldTickRow[], now: Date): ScheduleView {
  return {
    ...scheduleSummary(row, ticks, now),
    prompt: row.task.prompt,
    workspace: row.task.workspace ?? null,
    model: row.task.model ?? null,
    profile: row.task.profile ?? null,
    sessionId: row.session_id ?? row.task.session ?? null,
    next: nextTimes(row),
    ticks: ticks.map(tickView),
  }
}

function nextTimes(row: ScheduleRow): ScheduleView['next'] {
  const zone = row.timing.kind === 'cron' ? row.timing.timeZone : ownTimeZone()
  const times: ScheduleView['next'] = []
  let due = row.state === 'active' ? row.next_due_at?.getTime() : undefined
  while (due !== undefined && times.length < shownNext) {
    const at = fireTime(row, due)
    times.push({ at: new Date(at).toISOString(), local: formatIn(zone, at) })
    due = nextTime(row.timing, { after: due, since: row.since.getTime() })
  }
  return times
}

function tickView(row: ToldTickRow): TickView {
  const isGone = row.state === 'running' && row.task_id === null
  return {
    dueAt: row.due_at.toISOString(),
    firedAt: row.fired_at.toISOString(),
    endedAt: time(row.ended_at),
    state: isGone ? 'cancelled' : row.state,
    detail: isGone ? 'Its task was deleted.' : row.detail,
    manual: row.is_manual,
    task: row.task_id,
    taskState: row.task_state,
  }
}
