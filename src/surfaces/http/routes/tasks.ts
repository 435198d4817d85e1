import { createRoute, z } from '@hono/zod-openapi'
import { seesDetail, withoutDetail } from '../../../domain/auth/detail.ts'
import { traceContextOf } from '../../../domain/base/trace-context.ts'
import { TaskId } from '../../../domain/id.ts'
import { taskSorts } from '../../../domain/task/column.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, pageOf, problems, schemas, strict } from '../schemas.ts'
import { narrowing } from './board.ts'

export const TaskPath = z.object({ id: TaskId })
const nothing = strict({})

const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'an idempotency key has 1 to 255 visible ASCII characters')
  .optional()
  .openapi({ description: 'The same key with the same body gives the same task, however often it is sent.' })

const traceHeaders = {
  traceparent: z.string().optional().openapi({ description: 'W3C Trace Context: the spans of the task lie below this one.' }),
  tracestate: z.string().optional(),
}

const create = createRoute({
  method: 'post',
  path: `${api}/tasks`,
  ...needs('create'),
  summary: 'Ask for work. Durable when it is answered.',
  request: {
    query: nothing,
    headers: z.object({ 'idempotency-key': IdempotencyKey, ...traceHeaders }),
    body: { required: true, content: { 'application/json': { schema: schemas.NewTask } } },
  },
  responses: {
    201: json(schemas.Task, 'The task was made.'),
    200: json(schemas.Task, 'The key was seen before: the task it made.'),
    ...problems,
  },
})

const check = createRoute({
  method: 'post',
  path: `${api}/tasks/check`,
  ...needs('create'),
  summary: 'Whether work could be asked for like this. Refuses what asking would refuse, and makes nothing.',
  request: { query: nothing, body: { required: true, content: { 'application/json': { schema: schemas.NewTask } } } },
  responses: { 200: json(z.object({ ok: z.literal(true) }), 'It could.'), ...problems },
})

const createMany = createRoute({
  method: 'post',
  path: `${api}/tasks/batch`,
  ...needs('create'),
  summary: 'Ask for several tasks, all or none; they may depend on each other by their names.',
  request: {
    query: nothing,
    headers: z.object({ 'idempotency-key': IdempotencyKey, ...traceHeaders }),
    body: { required: true, content: { 'application/json': { schema: schemas.NewTasks } } },
  },
  responses: {
    201: json(z.object({ items: z.array(schemas.Task) }), 'The tasks were made; in the order of the request.'),
    200: json(z.object({ items: z.array(schemas.Task) }), 'The key was seen before: what is left of the tasks it made.'),
    ...problems,
  },
})

const list = createRoute({
  method: 'get',
  path: `${api}/tasks`,
  ...needs('read'),
  summary: 'Tasks, newest first; of a queued one `reason` says what it waits for right now.',
  request: {
    query: strict({
      ...narrowing,
      sort: z
        .enum(taskSorts)
        .optional()
        .openapi({ description: 'By when they were made, changed or ended; `ended` lists only those that have.' }),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      cursor: z.string().max(500).optional().openapi({ description: 'The `next` of an earlier page.' }),
    }),
  },
  responses: { 200: json(pageOf(schemas.TaskSummary), 'A page of tasks.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}`,
  ...needs('read_task'),
  summary: 'One task with its runs and questions.',
  request: { params: TaskPath, query: nothing },
  responses: { 200: json(schemas.Task, 'The task.'), ...problems },
})

const cancel = createRoute({
  method: 'post',
  path: `${api}/tasks/{id}/cancel`,
  ...needs('work'),
  summary: 'Stop a task. Asking twice is fine.',
  request: {
    params: TaskPath,
    query: nothing,
    body: { content: { 'application/json': { schema: strict({ now: z.boolean().default(false) }) } } },
  },
  responses: { 200: json(schemas.Task, 'The task, stopped or stopping.'), ...problems },
})

const retry = createRoute({
  method: 'post',
  path: `${api}/tasks/{id}/retry`,
  ...needs('work'),
  summary: 'Queue a task that has come to rest again, with every restriction it has; caps may be raised.',
  request: {
    params: TaskPath,
    query: nothing,
    body: { content: { 'application/json': { schema: schemas.TaskRetry } } },
  },
  responses: { 200: json(schemas.Task, 'The task, queued.'), ...problems },
})

const edit = createRoute({
  method: 'patch',
  path: `${api}/tasks/{id}`,
  ...needs('work'),
  summary: 'Change how a task that waits is called, found and ranked.',
  request: {
    params: TaskPath,
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: schemas.TaskEdit } } },
  },
  responses: { 200: json(schemas.Task, 'The task, changed.'), ...problems },
})

const remove = createRoute({
  method: 'delete',
  path: `${api}/tasks/{id}`,
  ...needs('work'),
  summary: 'Delete a task that has ended, with its subtasks, runs, events and questions, for good.',
  request: { params: TaskPath, query: nothing },
  responses: { 200: json(z.object({ removed: z.array(TaskId) }), 'The ids of the deleted tasks.'), ...problems },
})

export function taskRoutes(app: App, { runtime }: Parts): void {
  app.openapi(create, async (c) => {
    const { 'idempotency-key': idempotencyKey, ...headers } = c.req.valid('header')
    const trace = traceContextOf(headers)
    const { task, created } = await runtime.createTask(c.req.valid('json'), { ...callerOf(c), idempotencyKey, trace })
    if (!created) return c.json(task, 200)
    return c.json(task, 201, { Location: `${api}/tasks/${task.id}` })
  })
  app.openapi(check, async (c) => {
    await runtime.checkTask(c.req.valid('json'), callerOf(c))
    return c.json({ ok: true as const }, 200)
  })
  app.openapi(createMany, async (c) => {
    const { 'idempotency-key': idempotencyKey, ...headers } = c.req.valid('header')
    const trace = traceContextOf(headers)
    const { tasks, created } = await runtime.createTasks(c.req.valid('json'), { ...callerOf(c), idempotencyKey, trace })
    return created ? c.json({ items: tasks }, 201) : c.json({ items: tasks }, 200)
  })
  app.openapi(list, async (c) => {
    const { state, column, ...filter } = c.req.valid('query')
    const { items, next } = await runtime.listTasks({ ...filter, states: state, columns: column })
    return c.json({ items: seesDetail(callerOf(c).standing) ? items : items.map(withoutDetail), next }, 200)
  })
  app.openapi(show, async (c) => {
    const task = await runtime.getTask(c.req.valid('param').id)
    return c.json(seesDetail(callerOf(c).standing) ? task : withoutDetail(task), 200)
  })
  app.openapi(cancel, async (c) => {
    const { now = false } = c.req.valid('json')
    return c.json(await runtime.cancelTask(c.req.valid('param').id, { ...callerOf(c), now }), 200)
  })
  app.openapi(retry, async (c) => {
    const { fresh = false, ...caps } = c.req.valid('json')
    return c.json(await runtime.retryTask(c.req.valid('param').id, { ...callerOf(c), fresh, ...caps }), 200)
  })
  app.openapi(edit, async (c) => c.json(await runtime.editTask(c.req.valid('param').id, c.req.valid('json'), callerOf(c)), 200))
  app.openapi(remove, async (c) => c.json(await runtime.removeTask(c.req.valid('param').id, callerOf(c)), 200))
}
