import { createRoute, z } from '@hono/zod-openapi'
import { NewElaboration } from '../../../domain/draft/proposal.ts'
import { TaskId } from '../../../domain/id.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'

const nothing = strict({})

const elaborate = createRoute({
  method: 'post',
  path: `${api}/tasks/elaborate`,
  ...needs('work'),
  summary:
    'Have an agent make a task of somebody’s words. Answers the task that does so; its proposal is asked for when it is completed.',
  request: {
    query: nothing,
    headers: z.object({ 'idempotency-key': z.string().min(1).max(200).optional() }),
    body: { required: true, content: { 'application/json': { schema: strict(NewElaboration.shape) } } },
  },
  responses: { 202: json(schemas.Task, 'The task that makes the proposal.'), ...problems },
})

const proposal = createRoute({
  method: 'get',
  path: `${api}/tasks/{id}/proposal`,
  ...needs('read'),
  summary: 'The task that an agent proposes. Nothing is made of it until somebody asks for it.',
  request: { params: z.object({ id: TaskId }), query: nothing },
  responses: { 200: json(schemas.NewTask, 'To be looked at, changed, and asked for.'), ...problems },
})

export function elaborateRoutes(app: App, { runtime }: Parts): void {
  app.openapi(elaborate, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const task = await runtime.elaborateTask(c.req.valid('json'), { ...callerOf(c), idempotencyKey })
    return c.json(task, 202, { Location: `${api}/tasks/${task.id}` })
  })
  app.openapi(proposal, async (c) => c.json(await runtime.getProposal(c.req.valid('param').id), 200))
}
