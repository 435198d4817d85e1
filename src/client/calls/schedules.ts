import type { WhenRead, WhenText } from '../../domain/draft/draft.ts'
import type { NewSchedule, ScheduleChanges, ScheduleSummary, ScheduleView } from '../../domain/schedule/schedule.ts'
import type { Page } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** Tasks that come again; each of these takes the id of a schedule or its name. */
export interface ScheduleCalls {
  createSchedule(schedule: NewSchedule): Promise<ScheduleView>
  listSchedules(): Promise<ScheduleSummary[]>
  getSchedule(named: string): Promise<ScheduleView>
  changeSchedule(named: string, changes: ScheduleChanges): Promise<ScheduleView>
  pauseSchedule(named: string): Promise<ScheduleView>
  resumeSchedule(named: string): Promise<ScheduleView>
  /** One tick now, out of turn. */
  runSchedule(named: string): Promise<ScheduleView>
  removeSchedule(named: string): Promise<void>
  previewSchedule(written: WhenText): Promise<WhenRead>
}

export const scheduleCalls = ({ get, post, call }: Wire): ScheduleCalls => ({
  createSchedule: (schedule) => post(`${api}/schedules`, schedule, false),
  listSchedules: async () => (await get<Page<ScheduleSummary>>(`${api}/schedules`)).items,
  getSchedule: (named) => get(schedulePath(named)),
  changeSchedule: async (named, body) => (await call<ScheduleView>('PATCH', schedulePath(named), { body })).value,
  pauseSchedule: (named) => post(`${schedulePath(named)}/pause`, {}),
  resumeSchedule: (named) => post(`${schedulePath(named)}/resume`, {}),
  runSchedule: (named) => post(`${schedulePath(named)}/run`, {}, false),
  removeSchedule: async (named) => void (await call('DELETE', schedulePath(named), { repeatable: false })),
  previewSchedule: (written) => post(`${api}/schedules/preview`, written),
})

const schedulePath = (named: string) => `${api}/schedules/${encodeURIComponent(named)}`
