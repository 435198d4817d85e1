import type { Task } from '@a2a-js/sdk'
import { seesDetail, withoutDetail } from '../../domain/detail.ts'
import type { TaskSummary, TaskView } from '../../domain/view.ts'
import type { Caller } from '../../engine/runtime.ts'
import { artifactsOf } from './artifacts.ts'
import { defaultHistory, historyOf, mostHistory } from './history.ts'
import { keyPrefix } from './incoming.ts'
import type { A2AParts } from './parts.ts'
import { metadataOf, statusOf } from './status.ts'

/** A task as the protocol shows it, and the number of the event up to which it tells everything. */
export interface Snapshot {
  readonly view: TaskView
  readonly task: Task
  readonly seq: number
}

export interface Looking {
  readonly caller: Caller
  /** How many messages; all that are shown unasked if left out. */
  readonly historyLength?: number | undefined
}

/** So often it is looked again whether a task stood still while it was looked at. What is told twice then does no harm. */
const looks = 5

/**
 * The task as it stands at one moment. Whatever moves a task writes its event in the same transaction, so what was read between two looks at the same number
 * of the journal belongs together; the events after that number are everything that is not in it yet.
 */
export async function snapshotOf(parts: A2AParts, id: string, looking: Looking): Promise<Snapshot> {
  const last = Math.min(looking.historyLength ?? defaultHistory, mostHistory)
  let said = await parts.said.whatWasSaid(id, { last })
  let view = await parts.runtime.getTask(id)
  for (let look = 1; look < looks; look++) {
    const again = await parts.said.whatWasSaid(id, { last })
    if (again.seq === said.seq) break
    said = again
    view = await parts.runtime.getTask(id)
  }
  const shown = seesDetail(looking.caller.standing) ? view : withoutDetail(view)
  const [artifacts, keys] = await Promise.all([
    artifactsOf(parts.runtime, view, parts.filesAt()),
    last === 0 ? [] : parts.said.messagesTo(id, keyPrefix),
  ])
  return { view, seq: said.seq, task: { ...bare(shown), artifacts, history: historyOf(shown, said.events, keys, last) } }
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
