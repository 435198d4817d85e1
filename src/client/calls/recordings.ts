import type { NewFork, NewReplay, RecordingSummary, RecordingView, ReplayReport } from '../../domain/view/recording.ts'
import type { Page, TaskView } from '../../domain/view/view.ts'
import { api, taskPath, type Wire } from '../transport/wire.ts'

/** Recorded runs, and those that repeat them. */
export interface RecordingCalls {
  /** Recorded runs, newest first. */
  listRecordings(): Promise<RecordingSummary[]>
  getRecording(run: string): Promise<RecordingView>
  /** The file, as docs/recordings.md describes it. */
  exportRecording(run: string): Promise<string>
  removeRecording(run: string): Promise<void>
  /** Makes a task that does once more what a recorded run did. */
  replayRun(run: string, how?: NewReplay): Promise<TaskView>
  /** The same up to a call, from which on another model goes on. */
  forkRun(run: string, how: NewFork): Promise<TaskView>
  /** How a replay that has ended compares with the run that it repeats. */
  getReplay(task: string): Promise<ReplayReport>
}

export const recordingCalls = ({ get, post, call, text }: Wire): RecordingCalls => ({
  listRecordings: async () => (await get<Page<RecordingSummary>>(`${api}/recordings`)).items,
  getRecording: (run) => get(recordingPath(run)),
  exportRecording: (run) => text(`${recordingPath(run)}/export`),
  removeRecording: async (run) => void (await call('DELETE', recordingPath(run), { repeatable: false })),
  replayRun: (run, how = {}) =>
    post(`${recordingPath(run)}/replay`, { until: how.until, prompt: how.prompt, attended: how.attended }, false),
  forkRun: (run, { at, model, budget, attended }) => post(`${recordingPath(run)}/fork`, { at, model, budget, attended }, false),
  getReplay: (task) => get(`${taskPath(task)}/replay`),
})

const recordingPath = (run: string) => `${api}/recordings/${encodeURIComponent(run)}`
