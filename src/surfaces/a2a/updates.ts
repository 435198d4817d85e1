import type { StreamResponse, TaskStatus } from '@a2a-js/sdk'
import { eventWithoutDetail, seesDetail } from '../../domain/auth/detail.ts'
import { PawlError } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import { isTerminal, type Stage } from '../../domain/task/stage.ts'
import type { Caller, Runtime } from '../../operations/runtime.ts'
import { answerOf, chunksOf, fileArtifact } from './artifacts.ts'
import { utteranceId } from './history.ts'
import { byAgent, type Said, textPart } from './say.ts'
import { stateAt } from './state.ts'
import { metadataOf, questionParts, reviewSentence, shortSentences } from './status.ts'

export interface UpdateParts {
  readonly runtime: Runtime
  /** Where files of tasks are, as addresses. */
  readonly filesAt: () => string
}

interface Followed {
  readonly id: string
  readonly session: string
}

/** What events have told, to those who see the detail and to the others. Many streams share an event, so what it tells is looked up and mapped once for all. */
const told = {
  whole: new WeakMap<Event, Promise<readonly StreamResponse[]>>(),
  plain: new WeakMap<Event, Promise<readonly StreamResponse[]>>(),
}
const nothing = Promise.resolve([])

/** What one event of a task tells its clients, in order; nothing for most. The same for every stream, whenever and by whichever process it is told. */
export function updatesOf(
  parts: UpdateParts,
  event: Event,
  task: Followed,
  { standing }: Pick<Caller, 'standing'>,
): Promise<readonly StreamResponse[]> {
  if (event.type !== 'artifact.added' && stageAfter(event) === undefined) return nothing
  const isWhole = seesDetail(standing)
  const known = isWhole ? told.whole : told.plain
  let updates = known.get(event)
  if (!updates) {
    updates = mapped(parts, isWhole ? event : eventWithoutDetail(event), task)
    known.set(event, updates)
    // Whoever comes next looks again.
    updates.catch(() => known.delete(event))
  }
  return updates
}

async function mapped(parts: UpdateParts, event: Event, task: Followed): Promise<readonly StreamResponse[]> {
  if (event.type === 'artifact.added') return fileUpdates(parts, event.data.artifact, task)
  const stage = stageAfter(event)!
  if (event.type !== 'task.completed' && event.type !== 'task.review')
    return [update(event, task, stage, await wordsOf(parts, event, task))]
  const view = await parts.runtime.getTask(task.id)
  const answer = answerOf(view)
  const { outcome } = event.data
  const words = event.type === 'task.review' ? reviewSentence : outcome && shortSentences[outcome]
  const said = words === undefined ? undefined : { parts: [textPart(words)] }
  return [...(answer ? chunksOf(answer, task) : []), update(event, task, stage, said, metadataOf(view))]
}

/** Where a task stands after an event; undefined if the event moves it nowhere and says nothing. */
export function stageAfter(event: Event): Stage | undefined {
  switch (event.type) {
    case 'task.queued':
    case 'task.created':
    case 'task.requeued':
      return 'submitted'
    case 'run.admitted':
    case 'agent.message':
    case 'message.sent':
    case 'task.parked':
      return 'working'
    case 'task.blocked':
      return event.data.kind === 'subtasks' ? 'working' : 'input_required'
    case 'task.review':
      return 'input_required'
    case 'task.completed':
      return 'completed'
    case 'task.failed':
      return event.data.category === 'auth_failed' ? 'auth_required' : 'failed'
    case 'task.timed_out':
    case 'task.over_budget':
      return 'failed'
    case 'task.cancelled':
      return 'cancelled'
    default:
      return undefined
  }
}

/** True of an event after which no stream of the task goes on. */
export function isLast(event: Event): boolean {
  const stage = stageAfter(event)
  return stage !== undefined && isTerminal(stage)
}

type Words = Pick<Said, 'parts' | 'metadata'> & { readonly id?: string | undefined }

async function wordsOf({ runtime }: UpdateParts, event: Event, task: Followed): Promise<Words | undefined> {
  switch (event.type) {
    case 'agent.message':
    case 'message.sent':
      return { parts: [textPart(event.data.text)] }
    case 'task.parked':
      return event.data.detail === undefined ? undefined : { parts: [textPart(event.data.detail)] }
    case 'task.failed':
    case 'task.timed_out':
      return { parts: [textPart(event.data.message)], metadata: { category: event.data.category } }
    case 'task.over_budget':
      return { parts: [textPart(event.data.message)], metadata: { category: 'budget_exceeded' } }
    case 'task.blocked': {
      const { questionId, kind } = event.data
      if (questionId !== undefined) return { id: questionId, parts: questionParts(await runtime.getQuestion(questionId)) }
      if (kind === 'subtasks') return undefined
      const { reason } = await runtime.getTask(task.id)
      return { parts: [textPart(reason?.detail ?? 'The task waits for somebody to look at it.')] }
    }
    default:
      return undefined
  }
}

function update(event: Event, task: Followed, stage: Stage, said?: Words, metadata?: Record<string, unknown>): StreamResponse {
  const status: TaskStatus = {
    state: stateAt(stage),
    timestamp: event.at,
    message: said && byAgent({ ...said, id: said.id ?? utteranceId(event), task }),
  }
  return { payload: { $case: 'statusUpdate', value: { taskId: task.id, contextId: task.session, status, metadata } } }
}

/** Of a file that is gone by now, or has another in its place, nothing is told: the other has an event of its own. */
async function fileUpdates({ runtime, filesAt }: UpdateParts, id: string, task: Followed): Promise<readonly StreamResponse[]> {
  const file = (await runtime.listArtifacts(task.id)).find((one) => one.id === id)
  if (!file) return []
  try {
    return [...chunksOf(await fileArtifact(runtime, file, filesAt()), task)]
  } catch (error) {
    if (error instanceof PawlError && error.code === 'not_found') return []
    throw error
  }
}
