import type { CallToolResult, InputRequests } from '@modelcontextprotocol/server'
import { inputRequired } from '@modelcontextprotocol/server'
import type { TaskSummary, TaskView } from '../../domain/view/view.ts'
import type { Call, Era } from './call.ts'
import { formOf } from './elicitation.ts'
import { inWords, openQuestions, rests, shownWithQuestions, wentWrong } from './task-shape.ts'

/** How a task of ours is seen as a task of MCP. It has our id and lasts as long as ours does, so it needs no place of its own. */
export type McpStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** How often a client should ask. */
const pollMs = 1_000

const asks: ReadonlySet<string> = new Set(['question', 'permission'])

export function statusOf(task: TaskSummary, era: Era): McpStatus {
  switch (task.state) {
    case 'completed':
      return 'completed'
    case 'cancelled':
      return 'cancelled'
    case 'failed':
    case 'timed_out':
    case 'over_budget':
      // In the newer era a tool that ran and failed has completed, with a result that says so.
      return era === 'modern' ? 'completed' : 'failed'
    default:
      return task.state === 'blocked' && asks.has(task.reason?.kind ?? '') ? 'input_required' : 'working'
  }
}

/** In a few words, for people who look at a list. */
function statusMessage(task: TaskSummary): string {
  if (task.reason?.detail !== undefined) return `${task.state}: ${task.reason.kind}`
  return task.current ?? (task.reason ? `${task.state}: ${task.reason.kind}` : task.state)
}

/** The head of a task as the newer era writes it. */
export const modernTask = (task: TaskSummary) => ({
  taskId: task.id,
  status: statusOf(task, 'modern'),
  statusMessage: statusMessage(task),
  createdAt: task.createdAt,
  lastUpdatedAt: task.updatedAt,
  ttlMs: null,
  pollIntervalMs: pollMs,
})

/** The same as the older era wrote it. */
export const legacyTask = (task: TaskSummary) => ({
  taskId: task.id,
  status: statusOf(task, 'legacy'),
  statusMessage: statusMessage(task),
  createdAt: task.createdAt,
  lastUpdatedAt: task.updatedAt,
  ttl: null,
  pollInterval: pollMs,
})

/** With what the client needs next: the result, or what is asked. */
export function detailedTask(task: TaskView, call: Pick<Call, 'who'>) {
  const head = modernTask(task)
  if (head.status === 'completed') return { ...head, result: resultOf(task, call) }
  if (head.status === 'input_required') return { ...head, inputRequests: requestsOf(task) }
  return head
}

export const requestsOf = (task: TaskView): InputRequests =>
  Object.fromEntries(openQuestions(task).map((question) => [question.id, inputRequired.elicit(formOf(question))]))

/** What `run_task` would have answered if somebody had waited for it. */
export function resultOf(task: TaskView, call: Pick<Call, 'who'>): CallToolResult {
  const shown = shownWithQuestions(task, call)
  return {
    content: [{ type: 'text', text: inWords(shown) }],
    structuredContent: { task: shown, done: rests(task) },
    ...(wentWrong(task) ? { isError: true } : {}),
  }
}
