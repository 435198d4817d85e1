import type { DoctorView } from '../../domain/view/doctor.ts'
import type { SettingsChange, SettingsChanged, SettingsView } from '../../domain/view/settings.ts'
import type { HaltView, HealthView } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** The daemon itself, its settings and its machine. */
export interface DaemonCalls {
  health(): Promise<HealthView>
  /** Rejects with `unavailable` and the reason if no work can be taken. */
  ready(): Promise<void>
  shutdown(): Promise<void>
  /** Ends every run of every worker and keeps the queue from starting any more until `resume`. */
  stopAll(options?: { reason?: string | undefined }): Promise<{ halt: HaltView; stopping: string[] }>
  resume(): Promise<{ resumed: boolean }>
  /** What is wrong with the daemon’s machine; ask again while `isRunning`. */
  inspect(options?: { fresh?: boolean | undefined }): Promise<DoctorView>
  /** Every setting in force. */
  getSettings(): Promise<SettingsView>
  /** Changes the settings of the home, checked as a whole. */
  changeSettings(change: SettingsChange): Promise<SettingsChanged>
  undoSettings(): Promise<SettingsChanged>
}

export const daemonCalls = ({ get, post, call }: Wire): DaemonCalls => ({
  health: () => get(`${api}/health`),
  ready: async () => void (await get('/readyz')),
  shutdown: async () => void (await post(`${api}/shutdown`, {})),
  stopAll: ({ reason } = {}) => post(`${api}/stop-all`, reason === undefined ? {} : { reason }),
  resume: () => post(`${api}/resume`, {}, false),
  inspect: ({ fresh = false } = {}) => get(`${api}/doctor`, fresh ? { fresh: 'true' } : {}),
  getSettings: () => get(`${api}/config`),
  changeSettings: async ({ set, unset, hash }) =>
    (await call<SettingsChanged>('PATCH', `${api}/config`, { body: { set, unset, hash }, repeatable: false })).value,
  undoSettings: () => post(`${api}/config/undo`, {}, false),
})
