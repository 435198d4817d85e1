import { createRoute, z } from '@hono/zod-openapi'
import { healthWithoutDetail, seesDetail } from '../../../domain/auth/detail.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'

const health = createRoute({
  method: 'get',
  path: `${api}/health`,
  ...needs('read'),
  summary: 'The daemon, its database, its walls, and how many tasks are in each state.',
  request: { query: strict({}) },
  responses: { 200: json(schemas.Health, 'How it is.'), ...problems },
})

const live = createRoute({
  method: 'get',
  path: '/healthz',
  ...needs('open'),
  summary: 'Whether the process answers at all. The one route without a token; it says nothing else.',
  security: [],
  responses: { 200: { description: 'It does.', content: { 'text/plain': { schema: z.literal('ok') } } } },
})

const ready = createRoute({
  method: 'get',
  path: '/readyz',
  ...needs('read'),
  summary: 'Whether work can be taken.',
  request: { query: strict({}) },
  responses: { 200: json(z.object({ ready: z.literal(true) }), 'It can.'), ...problems },
})

export function healthRoutes(app: App, { runtime }: Parts): void {
  app.openapi(health, async (c) => {
    const found = await runtime.health()
    return c.json(seesDetail(callerOf(c).standing) ? found : healthWithoutDetail(found), 200)
  })
  app.openapi(live, (c) => c.text('ok', 200))
  app.openapi(ready, async (c) => {
    await runtime.ready()
    return c.json({ ready: true as const }, 200)
  })
}
