/** Pawl as a library: the same engine, without the command line. */
import type { AgentRun } from './agent-run.ts'
import { type PawlOptions, runOnce, type TaskOptions } from './pawl.ts'

export { createClient } from '../client/index.ts'
export { loadConfig } from '../config/config.ts'
export { openRuntime, startDaemon } from '../daemon/daemon.ts'
export { PawlError } from '../domain/error.ts'
export type { Event, EventData, EventType } from '../domain/event/event.ts'
export type { ArtifactView, Attachment, UploadView } from '../domain/files/view.ts'
export type { NewSchedule, ScheduleView } from '../domain/schedule/schedule.ts'
export type { CheckView, ProofView, VerifyView } from '../domain/task/check.ts'
export type { TaskState } from '../domain/task/task.ts'
export type { AgentView, NewTask, QuestionView, SessionView, TaskSummary, TaskView } from '../domain/view/view.ts'
export type { Runtime } from '../operations/runtime.ts'
export type { AgentRun } from './agent-run.ts'
export { createPawl, type Pawl, type PawlOptions, type Settings, type TaskOptions } from './pawl.ts'

export interface RunOptions extends TaskOptions, Pick<PawlOptions, 'home' | 'cwd' | 'config' | 'trust'> {}

/**
 * Runs one task in this process. Awaited, it is the task when that has come to rest: done, failed, in review, blocked, or parked; read with `for await`, it is its events.
 * Whoever wants to go on after a question keeps an engine open with `createPawl`.
 */
export function runAgent(prompt: string, { home, cwd, config, trust, ...options }: RunOptions = {}): AgentRun {
  return runOnce(prompt, { home, cwd, config, trust }, options)
}
