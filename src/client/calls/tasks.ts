import { type TraceContext, traceHeaders } from '../../domain/base/trace-context.ts'
import type { Column, TaskSort } from '../../domain/task/column.ts'
import type { TaskState } from '../../domain/task/task.ts'
import type { BulkResult, BulkWork } from '../../domain/view/bulk.ts'
import type { NewTask, NewTasks, Page, TaskEdit, TaskRetry, TaskSummary, TaskView } from '../../domain/view/view.ts'
import { api, taskPath, uniqueKey, type Wire } from '../transport/wire.ts'

/** Tasks: made, found, changed and decided about. */
export interface TaskCalls {
  /** Safe to send again: a key is made up if none is given. */
  createTask(task: NewTask, options?: CreateOptions): Promise<{ task: TaskView; created: boolean }>
  /** All of them or none; safe to send again, like `createTask`. */
  createTasks(tasks: NewTasks, options?: CreateOptions): Promise<{ tasks: TaskView[]; created: boolean }>
  /** Rejects as `createTask` would; makes nothing. */
  checkTask(task: NewTask): Promise<void>
  getTask(id: string): Promise<TaskView>
  listTasks(filter?: ListTasks): Promise<Page<TaskSummary>>
  /** How many stand in each column of the board. */
  countTasks(filter?: NarrowTasks): Promise<Record<Column, number>>
  /** The same to each of many, for itself: what one refuses is told and keeps nothing from the others. */
  changeTasks(work: BulkWork): Promise<BulkResult>
  cancelTask(id: string, options?: { now?: boolean | undefined }): Promise<TaskView>
  retryTask(id: string, options?: TaskRetry): Promise<TaskView>
  /** Lets a parked task go on now. */
  resumeTask(id: string): Promise<TaskView>
  editTask(id: string, edit: TaskEdit): Promise<TaskView>
  /** Deletes an ended task with its subtasks, for good. */
  removeTask(id: string): Promise<{ removed: string[] }>
  /** The work of a task that is in review is good. */
  acceptTask(id: string): Promise<TaskView>
  /** It is to be changed; the agent hears the comment. */
  rejectTask(id: string, options: { comment: string }): Promise<TaskView>
}

export interface CreateOptions {
  readonly idempotencyKey?: string | undefined
  /** The span that asks; those of the task lie below it. */
  readonly trace?: TraceContext | undefined
}

export interface NarrowTasks {
  readonly states?: readonly TaskState[] | undefined
  /** Columns of the board. */
  readonly columns?: readonly Column[] | undefined
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly text?: string | undefined
  readonly session?: string | undefined
  readonly parent?: string | undefined
  readonly endedSince?: string | undefined
  readonly updatedSince?: string | undefined
}

export interface ListTasks extends NarrowTasks {
  /** By when they were made if left out. */
  readonly sort?: TaskSort | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const taskCalls = ({ get, post, call }: Wire): TaskCalls => ({
  async createTask(task, { idempotencyKey = uniqueKey(), trace } = {}) {
    const headers = { 'Idempotency-Key': idempotencyKey, ...traceHeaders(trace) }
    const { status, value } = await call<TaskView>('POST', `${api}/tasks`, { body: task, headers })
    return { task: value, created: status === 201 }
  },
  async createTasks(tasks, { idempotencyKey = uniqueKey(), trace } = {}) {
    const headers = { 'Idempotency-Key': idempotencyKey, ...traceHeaders(trace) }
    const { status, value } = await call<{ items: TaskView[] }>('POST', `${api}/tasks/batch`, { body: tasks, headers })
    return { tasks: value.items, created: status === 201 }
  },
  checkTask: async (task) => void (await post(`${api}/tasks/check`, task)),
  getTask: (id) => get(taskPath(id)),
  listTasks: ({ states, columns, ...filter } = {}) =>
    get(`${api}/tasks`, { ...filter, state: states?.join(','), column: columns?.join(',') }),
  countTasks: ({ states, columns, ...filter } = {}) =>
    get(`${api}/board`, { ...filter, state: states?.join(','), column: columns?.join(',') }),
  changeTasks: (work) => post(`${api}/tasks/bulk`, work, false),
  cancelTask: (id, { now = false } = {}) => post(`${taskPath(id)}/cancel`, { now }),
  retryTask: (id, { fresh = false, budget, timeoutMs } = {}) =>
    post(`${taskPath(id)}/retry`, { fresh, budget, timeoutMs }, false),
  resumeTask: (id) => post(`${taskPath(id)}/resume`, {}, false),
  editTask: async (id, { name, priority, tags }) =>
    (await call<TaskView>('PATCH', taskPath(id), { body: { name, priority, tags } })).value,
  removeTask: async (id) => (await call<{ removed: string[] }>('DELETE', taskPath(id), { repeatable: false })).value,
  acceptTask: (id) => post(`${taskPath(id)}/accept`, {}, false),
  rejectTask: (id, { comment }) => post(`${taskPath(id)}/reject`, { comment }, false),
})
