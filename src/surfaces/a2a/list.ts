import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from '@a2a-js/sdk'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { seesDetail, withoutDetail } from '../../domain/auth/detail.ts'
import { invalid } from '../../domain/error.ts'
import { SessionId } from '../../domain/id.ts'
import type { Stage } from '../../domain/task/stage.ts'
import type { TaskSummary } from '../../domain/view/view.ts'
import { callerWith } from './call.ts'
import type { A2AParts } from './parts.ts'
import { stageAt } from './state.ts'
import { bare, snapshotOf } from './task.ts'

const defaultSize = 50
const mostSize = 100

/** The tasks of this endpoint, those that changed last first. Whoever may look at tasks at all may look at all of them. */
export async function list(parts: A2AParts, request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
  const caller = callerWith('read', context)
  const pageSize = request.pageSize ?? defaultSize
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > mostSize)
    throw invalid(`pageSize must be a whole number from 1 to ${mostSize}.`)
  if ((request.historyLength ?? 0) < 0) throw invalid('historyLength must not be negative.')
  const narrowing = {
    agent: parts.agent,
    session: request.contextId || undefined,
    stages: stagesOf(request.status),
    updatedSince: timeOf(request.statusTimestampAfter),
  }
  const nothing = { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  // What is no id of ours names no context; the protocol has no error for that.
  if (narrowing.session !== undefined && !SessionId.safeParse(narrowing.session).success) return nothing
  const cursor = request.pageToken || undefined
  const [page, counts] = await Promise.all([
    parts.runtime.listTasks({ ...narrowing, sort: 'updated', limit: pageSize, cursor }),
    parts.runtime.countTasks(narrowing),
  ])
  const isWhole = request.includeArtifacts === true || (request.historyLength ?? 0) > 0
  const shown = async (summary: TaskSummary): Promise<Task> => {
    if (!isWhole) {
      const questions =
        summary.state === 'blocked' ? await parts.runtime.listQuestions({ task: summary.id, state: 'pending' }) : []
      return bare({ ...(seesDetail(caller.standing) ? summary : withoutDetail(summary)), questions })
    }
    const { task } = await snapshotOf(parts, summary.id, { caller, historyLength: request.historyLength ?? 0 })
    return request.includeArtifacts ? task : { ...task, artifacts: [] }
  }
  const tasks: Task[] = []
  // One after another: a page of a hundred must not take all connections.
  for (const summary of page.items) tasks.push(await shown(summary))
  const totalSize = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { tasks, nextPageToken: page.next ?? '', pageSize, totalSize }
}

function stagesOf(status: TaskState): Stage[] | undefined {
  if (status === TaskState.TASK_STATE_UNSPECIFIED) return undefined
  if (status === TaskState.UNRECOGNIZED) throw invalid('status is none of the states of a task.')
  const stage = stageAt(status)
  // No task of ours is ever rejected.
  return stage === undefined ? [] : [stage]
}

function timeOf(text: string | undefined): string | undefined {
  if (!text) return undefined
  const at = new Date(text)
  if (Number.isNaN(at.getTime()) || at.getFullYear() < 1 || at.getFullYear() > 9_999)
    throw invalid('statusTimestampAfter must be a time such as 2026-01-02T03:04:05Z.')
  return at.toISOString()
}
