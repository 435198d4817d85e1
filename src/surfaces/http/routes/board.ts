import { createRoute, z } from '@hono/zod-openapi'
import { SessionId, TaskId } from '../../../domain/id.ts'
import { columns } from '../../../domain/task/column.ts'
import { taskStates } from '../../../domain/task/task.ts'
import { BulkResult, BulkWork } from '../../../domain/view/bulk.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

/** `state=queued&state=running` and `state=queued,running` say the same. */
const severalOf = <const T extends readonly [string, ...string[]]>(words: T) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((part) => part.split(',')))
    .pipe(z.array(z.enum(words)))
    .optional()
    .openapi({ type: 'array', items: { type: 'string', enum: [...words] }, description: 'Repeated, or separated by commas.' })

/** Which tasks, as an address says it. */
export const narrowing = {
  state: severalOf(taskStates),
  column: severalOf(columns),
  agent: z.string().max(64).optional(),
  tag: z.string().max(64).optional(),
  text: z.string().max(1000).optional().openapi({ description: 'Found in the prompt or the name, or the end of the id.' }),
  session: SessionId.optional(),
  parent: TaskId.optional().openapi({ description: 'Only subtasks of this task.' }),
  endedSince: z.iso.datetime({ offset: true }).optional().openapi({ description: 'Only tasks that have ended since then.' }),
  updatedSince: z.iso.datetime({ offset: true }).optional().openapi({ description: 'Only tasks that have changed since then.' }),
}

const count = createRoute({
  method: 'get',
  path: `${api}/board`,
  ...needs('read'),
  summary: 'How many tasks stand in each column of the board, of all or of those that fit.',
  request: { query: strict(narrowing) },
  responses: {
    200: json(z.object(Object.fromEntries(columns.map((column) => [column, z.number()]))).openapi('Board'), 'The numbers.'),
    ...problems,
  },
})

const bulk = createRoute({
  method: 'post',
  path: `${api}/tasks/bulk`,
  ...needs('work'),
  summary: 'Cancel, retry, delete or edit many tasks, each for itself; what one refuses keeps nothing from the others.',
  request: {
    query: strict({}),
    body: { required: true, content: { 'application/json': { schema: strict(BulkWork.shape).openapi('BulkWork') } } },
  },
  responses: { 200: json(z.object(BulkResult.shape).openapi('BulkResult'), 'What was done and what was refused.'), ...problems },
})

export function boardRoutes(app: App, { runtime }: Parts): void {
  app.openapi(count, async (c) => {
    const { state, column, ...filter } = c.req.valid('query')
    return c.json(await runtime.countTasks({ ...filter, states: state, columns: column }), 200)
  })
  app.openapi(bulk, async (c) => c.json(await runtime.changeTasks(c.req.valid('json'), callerOf(c)), 200))
}
