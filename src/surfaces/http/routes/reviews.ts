import { createRoute, z } from '@hono/zod-openapi'
import { maxCommentChars } from '../../../domain/task/review.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'
import { TaskPath } from './tasks.ts'

const accept = createRoute({
  method: 'post',
  path: `${api}/tasks/{id}/accept`,
  ...needs('work'),
  summary: 'Accept work that is in review: the task is completed.',
  request: { params: TaskPath, query: strict({}) },
  responses: { 200: json(schemas.Task, 'The task, completed.'), ...problems },
})

const reject = createRoute({
  method: 'post',
  path: `${api}/tasks/{id}/reject`,
  ...needs('work'),
  summary: 'Send work that is in review back: the agent hears the comment and goes on with its conversation.',
  request: {
    params: TaskPath,
    query: strict({}),
    body: {
      required: true,
      content: { 'application/json': { schema: strict({ comment: z.string().trim().min(1).max(maxCommentChars) }) } },
    },
  },
  responses: { 200: json(schemas.Task, 'The task, queued.'), ...problems },
})

export function reviewRoutes(app: App, { runtime }: Parts): void {
  app.openapi(accept, async (c) => c.json(await runtime.acceptTask(c.req.valid('param').id, callerOf(c)), 200))
  app.openapi(reject, async (c) => {
    const { comment } = c.req.valid('json')
    return c.json(await runtime.rejectTask(c.req.valid('param').id, { ...callerOf(c), comment }), 200)
  })
}
