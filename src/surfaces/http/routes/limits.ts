import { createRoute, z } from '@hono/zod-openapi'
import { limitWithoutDetail, seesDetail } from '../../../domain/auth/detail.ts'
import { LimitView } from '../../../domain/view/limit.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'
import { TaskPath } from './tasks.ts'

const Limit = z.object(LimitView.shape).openapi('Limit')
const Limits = z.object({ items: z.array(Limit), next: z.null() })
const nothing = strict({})

const list = createRoute({
  method: 'get',
  path: `${api}/limits`,
  ...needs('read'),
  summary: 'Accounts of model providers that are at a limit, and how many tasks wait for them.',
  request: { query: nothing },
  responses: { 200: json(Limits, 'The one that ends first at the top.'), ...problems },
})

const clear = createRoute({
  method: 'post',
  path: `${api}/limits/clear`,
  ...needs('work'),
  summary: 'Forget that the accounts of an agent are at their limit; their tasks go on one after another.',
  request: {
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: strict({ agent: z.string().min(1).max(100) }) } } },
  },
  responses: { 200: json(Limits, 'What was forgotten.'), ...problems },
})

const resume = createRoute({
  method: 'post',
  path: `${api}/tasks/{id}/resume`,
  ...needs('work'),
  summary: 'Let a parked task go on now. If its account is at a limit, it shows whether that is over.',
  request: { params: TaskPath, query: nothing, body: { content: { 'application/json': { schema: nothing } } } },
  responses: { 200: json(schemas.Task, 'The task, queued.'), ...problems },
})

export function limitRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => {
    const items = await runtime.listLimits()
    return c.json({ items: seesDetail(callerOf(c).standing) ? items : items.map(limitWithoutDetail), next: null }, 200)
  })
  app.openapi(clear, async (c) => {
    const { agent } = c.req.valid('json')
    return c.json({ items: await runtime.clearLimits(agent, callerOf(c)), next: null }, 200)
  })
  app.openapi(resume, async (c) => c.json(await runtime.resumeTask(c.req.valid('param').id, callerOf(c)), 200))
}
