import { createRoute, z } from '@hono/zod-openapi'
import { McpHealth, McpServerView } from '../../../domain/agent/mcp-server.ts'
import { type App, api, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const Server = z
  .object({ ...McpServerView.shape, health: z.object(McpHealth.shape).openapi('McpServerHealth') })
  .openapi('McpServer')
const ServerPath = z.object({ name: z.string().min(1).max(100) })
const nothing = strict({})
const body = (shape: z.ZodRawShape) => ({ required: true, content: { 'application/json': { schema: strict(shape) } } })

const list = createRoute({
  method: 'get',
  path: `${api}/mcp-servers`,
  ...needs('read'),
  summary: 'The servers of tools (MCP) that the settings name, who is offered them, and how they were when somebody looked last.',
  request: { query: nothing },
  responses: { 200: json(z.object({ items: z.array(Server), next: z.null() }), 'In the order of the settings.'), ...problems },
})

const show = createRoute({
  method: 'get',
  path: `${api}/mcp-servers/{name}`,
  ...needs('read'),
  summary: 'One of them.',
  request: { params: ServerPath, query: nothing },
  responses: { 200: json(Server, 'The server.'), ...problems },
})

const test = createRoute({
  method: 'post',
  path: `${api}/mcp-servers/{name}/test`,
  ...needs('work'),
  summary: 'Start or reach a server now, as a run would, and tell what was seen. Answered when it is known.',
  request: {
    params: ServerPath,
    query: nothing,
    body: {
      content: {
        'application/json': {
          schema: strict({ profile: z.string().min(1).max(100).optional().describe('guarded if left out.') }),
        },
      },
    },
  },
  responses: { 200: json(Server, 'Its health is that of now.'), ...problems },
})

const begin = createRoute({
  method: 'post',
  path: `${api}/mcp-servers/{name}/sign-in`,
  ...needs('administer'),
  summary: 'Begin to sign in at a server that asks for OAuth. A browser goes to the address and comes back to `redirectUrl`.',
  request: { params: ServerPath, query: nothing, body: body({ redirectUrl: z.url({ protocol: /^https?$/ }).max(2048) }) },
  responses: { 200: json(z.object({ url: z.string() }), 'Where to go.'), ...problems },
})

const finish = createRoute({
  method: 'post',
  path: `${api}/mcp-servers/{name}/sign-in/finish`,
  ...needs('administer'),
  summary: 'End it with what the browser brought back: the query of the address it was sent to.',
  request: { params: ServerPath, query: nothing, body: body({ query: z.string().min(1).max(16_384) }) },
  responses: { 200: json(Server, 'Pawl is let in.'), ...problems },
})

export function mcpServerRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json({ items: await runtime.listMcpServers(), next: null }, 200))
  app.openapi(show, async (c) => c.json(await runtime.getMcpServer(c.req.valid('param').name), 200))
  app.openapi(test, async (c) => c.json(await runtime.testMcpServer(c.req.valid('param').name, c.req.valid('json')), 200))
  app.openapi(begin, async (c) => {
    const { redirectUrl } = c.req.valid('json') as { redirectUrl: string }
    return c.json(await runtime.beginMcpSignIn(c.req.valid('param').name, redirectUrl), 200)
  })
  app.openapi(finish, async (c) => {
    const { query } = c.req.valid('json') as { query: string }
    return c.json(await runtime.finishMcpSignIn(c.req.valid('param').name, query), 200)
  })
}
