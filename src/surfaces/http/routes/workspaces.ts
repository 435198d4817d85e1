import { createRoute, z } from '@hono/zod-openapi'
import { RunId } from '../../../domain/id.ts'
import { KeptWorkspaceView, QuarantineView } from '../../../domain/view/workspace.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const schemas = {
  Quarantine: z.object(QuarantineView.shape).openapi('Quarantine'),
  KeptWorkspace: z.object(KeptWorkspaceView.shape).openapi('KeptWorkspace'),
}
const nothing = strict({})

const quarantined = createRoute({
  method: 'get',
  path: `${api}/quarantine`,
  ...needs('read'),
  summary: 'What runs planted in their workspaces and what was moved out for that.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.Quarantine), next: z.null() }), 'By run.'), ...problems },
})

const restore = createRoute({
  method: 'post',
  path: `${api}/quarantine/{run}/restore`,
  ...needs('administer'),
  summary: 'Put what a run planted back into its workspace, all of it or one path. What is there now is kept beside the rest.',
  request: {
    params: z.object({ run: RunId }),
    query: nothing,
    body: { content: { 'application/json': { schema: strict({ path: z.string().min(1).max(4_096).optional() }) } } },
  },
  responses: { 200: json(z.object({ restored: z.array(z.string()) }), 'Which paths.'), ...problems },
})

const list = createRoute({
  method: 'get',
  path: `${api}/workspaces`,
  ...needs('read'),
  summary: "The folders of Pawl's own in which tasks work or left something.",
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(schemas.KeptWorkspace), next: z.null() }), 'All of them.'), ...problems },
})

const remove = createRoute({
  method: 'delete',
  path: `${api}/workspaces/{name}`,
  ...needs('administer'),
  summary: 'Remove one of these folders for good. Refused while its task may go on.',
  request: { params: z.object({ name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,199}$/) }), query: nothing },
  responses: { 200: json(schemas.KeptWorkspace, 'What was removed.'), ...problems },
})

export function workspaceRoutes(app: App, { runtime }: Parts): void {
  app.openapi(quarantined, async (c) => c.json({ items: await runtime.listQuarantine(), next: null }, 200))
  app.openapi(restore, async (c) => {
    const { path } = c.req.valid('json')
    return c.json(await runtime.restoreQuarantine(c.req.valid('param').run, { ...callerOf(c), path }), 200)
  })
  app.openapi(list, async (c) => c.json({ items: await runtime.listWorkspaces(), next: null }, 200))
  app.openapi(remove, async (c) => c.json(await runtime.removeWorkspace(c.req.valid('param').name, callerOf(c)), 200))
}
