import type { Task } from '@a2a-js/sdk'
import { seesDetail, withoutDetail } from '../../domain/auth/detail.ts'
import type { TaskSummary, TaskView } from '../../domain/view/view.ts'
import type { Caller } from '../../operations/runtime.ts'
import type { ToldTask } from '../../operations/tasks/transcript.ts'
import { artifactsOf } from './artifacts.ts'
import { defaultHistory, historyOf, mostHistory } from './history.ts'
import { keyPrefix } from './incoming.ts'
import type { A2AParts } from './parts.ts'
import { metadataOf, statusOf } from './status.ts'

/** A task as the protocol shows it, and the number of the event up to which it tells everything. */
export interface Snapshot {
  readonly view: ToldTask
  readonly task: Task
  readonly seq: number
}

export interface Looking {
  readonly caller: Caller
  /** How many messages; all that are shown unasked if left out. */
  readonly historyLength?: number | undefined
}

/** The task as it stands at one moment; the events after its number are everything that is not in it yet. */
export async function snapshotOf(parts: A2AParts, id: string, looking: Looking): Promise<Snapshot> {
  const last = Math.min(looking.historyLength ?? defaultHistory, mostHistory)
  const { task: view, seq, events, messages } = await parts.said.toldTask(id, { last, prefix: keyPrefix })
  const shown = seesDetail(looking.caller.standing) ? view : withoutDetail(view)
  const artifacts = await artifactsOf(parts.runtime, view, parts.filesAt())
  return { view, seq, task: { ...bare(shown), artifacts, history: historyOf(shown, events, messages, last) } }
}

/** The same of a task that was made a moment ago by a message: nothing was said in it yet but that. */
export function newTask(view: TaskView, message: string, looking: Looking): Task {
  const shown = seesDetail(looking.caller.standing) ? view : withoutDetail(view)
  return { ...bare(shown), history: historyOf(shown, [], [{ id: message }], looking.historyLength ?? defaultHistory) }
}

/** Without what was said and what it brought. */
export const bare = (task: TaskSummary & { readonly questions?: TaskView['questions'] }): Task => ({
  id: task.id,
  contextId: task.session,
  status: statusOf(task),
  artifacts: [],
  history: [],
  metadata: metadataOf(task),
})
