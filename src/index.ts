/** Pawl as a library: the same engine, without the command line. */
import { adapters, presets } from './agents/index.ts'
import { waitForSubtasks } from './client/wait-for-subtasks.ts'
import { loadConfig } from './config.ts'
import { openRuntime, startDaemon } from './daemon.ts'
import { type Event, isRestingEvent } from './domain/event.ts'
import type { NewTask, TaskView } from './domain/view.ts'
import { silentLog } from './log.ts'

export { createClient } from './client/index.ts'
export { startDaemon } from './daemon.ts'
export { PawlError } from './domain/error.ts'
export type { Event } from './domain/event.ts'
export type { CheckView, ProofView, VerifyView } from './domain/task/check.ts'
export type { NewTask, TaskSummary, TaskView } from './domain/view.ts'
export type { Runtime } from './engine/runtime.ts'

export interface RunOptions extends Omit<NewTask, 'prompt'> {
  readonly home?: string
  readonly cwd?: string
  /** Counts the folder's pawl.yaml as trusted for this call. */
  readonly trust?: boolean
  readonly signal?: AbortSignal
  readonly onEvent?: (event: Event) => void
}

/** Runs one task in this process and resolves when it has come to rest: done, failed, in review, blocked, or parked. */
export async function runAgent(prompt: string, options: RunOptions = {}): Promise<TaskView> {
  const { home, cwd = process.cwd(), trust, signal, onEvent, ...task } = options
  const config = await loadConfig({ adapters, presets, cwd, flags: { home, trust } })
  const agent = task.agentConfig ?? config.agents.find((known) => known.name === (task.agent ?? config.defaultAgent))
  const daemon = await startDaemon({ config, log: silentLog, http: false, serveShared: false })
  try {
    const created = await daemon.runtime.createTask(
      { workspace: cwd, ...task, prompt, ...(agent ? { agentConfig: plain(agent) } : {}) },
      { by: 'library' },
    )
    const { id } = created.task
    const cancel = () => void daemon.runtime.cancelTask(id, { now: false, by: 'library' })
    signal?.addEventListener('abort', cancel)
    const done = new AbortController()
    // Where nobody works on a subtask any more, the task has come to rest too.
    const watchSubtasks = () =>
      void waitForSubtasks(daemon.runtime, id, done.signal).then(
        (goesOn) => goesOn || done.abort(),
        () => done.abort(),
      )
    for await (const batch of daemon.runtime.followEvents(id, { after: 0, signal: done.signal })) {
      for (const event of batch) {
        onEvent?.(event)
        if (isRestingEvent(event)) done.abort()
        else if (event.type === 'task.blocked') watchSubtasks()
      }
    }
    signal?.removeEventListener('abort', cancel)
    return await daemon.runtime.getTask(id)
  } finally {
    await daemon.stop()
  }
}

function plain(agent: NonNullable<NewTask['agentConfig']> & { source?: string }): NonNullable<NewTask['agentConfig']> {
  const { source: _, ...config } = agent
  return config
}

export { openRuntime }
