import { createRoute, z } from '@hono/zod-openapi'
import { SkillView, SubagentView } from '../../../domain/agent/skill.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const schemas = {
  Skill: z.object(SkillView.shape).openapi('Skill'),
  Subagent: z.object(SubagentView.shape).openapi('Subagent'),
}
const nothing = strict({})

const list = createRoute({
  method: 'get',
  path: `${api}/skills`,
  ...needs('read'),
  summary: 'The skills that runs of whoever asks can be given: those of everybody and their own.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.Skill), next: z.null() }), 'All of them.'), ...problems },
})

const listSubagents = createRoute({
  method: 'get',
  path: `${api}/subagents`,
  ...needs('read'),
  summary: 'The subagents that runs of whoever asks can be given: those of everybody and their own.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.Subagent), next: z.null() }), 'All of them.'), ...problems },
})

export function skillRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listSkills(callerOf(c)), next: null }, 200))
  app.openapi(listSubagents, async (c) => c.json({ items: await runtime.listSubagents(callerOf(c)), next: null }, 200))
}
