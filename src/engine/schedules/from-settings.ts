import type { Log } from '../../base/log.ts'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import { messageOf } from '../../domain/error.ts'
import type { NewSchedule, ScheduleChanges } from '../../domain/schedule/schedule.ts'
import type { Db } from '../../store/database.ts'
import { schedulesOf } from '../../store/schedules.ts'
import type { ScheduleRow } from '../../store/tables.ts'
import type { Caller } from '../auth/audit.ts'
import type { RefusedSchedules } from './refused.ts'

/** Makes, changes and removes schedules, and checks them as a user's own. */
interface ScheduleChanging {
  createSchedule(schedule: NewSchedule, caller: Caller & { source: string }): Promise<unknown>
  changeSchedule(named: string, changes: ScheduleChanges, caller: Caller & { isWhole: boolean }): Promise<unknown>
  removeSchedule(named: string, caller: Caller): Promise<void>
}

export interface SettingsSchedulesParts {
  readonly db: Db
  readonly log: Log
  readonly verbs: ScheduleChanging
  /** The file they stand in: schedules of others are left alone. */
  readonly source: string
  readonly refused: Pick<RefusedSchedules, 'set'>
  readonly wanted: readonly (NewSchedule & { readonly name: string })[]
}

/**
 * Makes the schedules be what the settings say: new ones are made, others changed, and those that are gone from the settings removed. One that stays keeps its history, its
 * conversation, and the pause that somebody made. One that cannot be had does not keep the others from it.
 */
export async function takeFromSettings({ db, log, verbs, source, wanted, refused }: SettingsSchedulesParts): Promise<void> {
  const there = new Map((await schedulesOf(db, { source })).map((row) => [row.name, row]))
  const caller = { by: source }
  const faults: { name: string; detail: string }[] = []
  for (const schedule of wanted) {
    const row = there.get(schedule.name)
    there.delete(schedule.name)
    try {
      if (!row) await verbs.createSchedule(schedule, { ...caller, source })
      else if (!isSame(row, schedule)) {
        const { name: _, when, ...rest } = schedule
        const isMoved = canonicalJson(when) !== canonicalJson(row.timing)
        await verbs.changeSchedule(row.id, { ...rest, ...(isMoved ? { when } : {}) }, { ...caller, isWhole: true })
      }
    } catch (error) {
      const [name, detail] = [schedule.name, messageOf(error)]
      faults.push({ name, detail })
      log.error('a schedule of the settings is not in force', { schedule: name, error: detail })
    }
  }
  refused.set(source, faults)
  for (const gone of there.values()) await verbs.removeSchedule(gone.id, caller)
}

function isSame(row: ScheduleRow, { when, task, session, overlap, catchUp, jitterMs }: NewSchedule): boolean {
  // One that waits for a time of rest was given the default agent by name.
  const { agent } = when.kind === 'idle' && task.agent === undefined ? { agent: undefined } : row.task
  const there = { when: row.timing, task: { ...row.task, agent }, session: row.session_mode, overlap: row.overlap }
  const wanted = { when, task, session, overlap, catchUp, jitterMs }
  return canonicalJson(wanted) === canonicalJson({ ...there, catchUp: row.catch_up, jitterMs: row.jitter_ms })
}
