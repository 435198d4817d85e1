import { createRoute, z } from '@hono/zod-openapi'
import { Name } from '../../../domain/id.ts'
import { CallToExplain, DecisionView, ProfileSummary, ProfileView } from '../../../domain/profile/view.ts'
import { type App, api, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const schemas = {
  ProfileSummary: z.object(ProfileSummary.shape).openapi('ProfileSummary'),
  Profile: z.object(ProfileView.shape).openapi('Profile'),
  CallToExplain: strict(CallToExplain.shape).openapi('CallToExplain'),
  Decision: z.object(DecisionView.shape).openapi('Decision'),
}
const ProfilePath = z.object({ name: Name })
const nothing = strict({})

const list = createRoute({
  method: 'get',
  path: `${api}/profiles`,
  ...needs('read'),
  summary: 'The profiles this daemon knows: what runs may see and do.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.ProfileSummary), next: z.null() }), 'All of them.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/profiles/{name}`,
  ...needs('read'),
  summary: 'One profile with every setting decided.',
  request: { params: ProfilePath, query: nothing },
  responses: { 200: json(schemas.Profile, 'The profile.'), ...problems },
})

const explain = createRoute({
  method: 'post',
  path: `${api}/profiles/{name}/explain`,
  ...needs('read'),
  summary: 'What would become of a tool call under a profile, and which rule decides. Nothing is run.',
  request: {
    params: ProfilePath,
    query: nothing,
    body: { required: true, content: { 'application/json': { schema: schemas.CallToExplain } } },
  },
  responses: { 200: json(schemas.Decision, 'The verdict.'), ...problems },
})

export function profileRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listProfiles(), next: null }, 200))
  app.openapi(show, async (c) => c.json(await runtime.getProfile(c.req.valid('param').name), 200))
  app.openapi(explain, async (c) => c.json(await runtime.explainCall(c.req.valid('param').name, c.req.valid('json')), 200))
}
