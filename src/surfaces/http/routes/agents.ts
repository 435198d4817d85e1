import { createRoute, z } from '@hono/zod-openapi'
import { Name } from '../../../domain/id.ts'
import { type App, api, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, schemas, strict } from '../schemas.ts'

const list = createRoute({
  method: 'get',
  path: `${api}/agents`,
  ...needs('read'),
  summary: 'The agents this daemon knows, and whether they can work.',
  request: { query: strict({}) },
  responses: { 200: json(z.object({ items: z.array(schemas.Agent), next: z.null() }), 'All of them.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/agents/{name}`,
  ...needs('read'),
  summary: 'One agent: what it can do, how it is let in, which versions were tried.',
  request: { params: z.object({ name: Name }), query: strict({}) },
  responses: { 200: json(schemas.Agent, 'The agent.'), ...problems },
})

export function agentRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listAgents(), next: null }, 200))
  app.openapi(show, async (c) => c.json(await runtime.getAgent(c.req.valid('param').name), 200))
}
