import { createRoute, z } from '@hono/zod-openapi'
import { PawlError } from '../../../domain/error.ts'
import { type App, api, type Parts } from '../app.ts'
import { json, problems, strict } from '../schemas.ts'

const stop = createRoute({
  method: 'post',
  path: `${api}/shutdown`,
  summary: 'Stop the daemon. Running tasks go back to the queue and lose nothing.',
  request: { query: strict({}), body: { content: { 'application/json': { schema: strict({}) } } } },
  responses: { 202: json(z.object({ stopping: z.literal(true) }), 'It is about to stop.'), ...problems },
})

const document = createRoute({
  method: 'get',
  path: `${api}/openapi.json`,
  summary: 'This description.',
  request: { query: strict({}) },
  responses: { 200: json(z.record(z.string(), z.unknown()), 'OpenAPI 3.1.'), ...problems },
})

export function daemonRoutes(app: App, { shutdown, version }: Parts): void {
  app.openapi(stop, (c) => {
    if (!shutdown)
      throw new PawlError('unsupported', 'This program cannot be stopped from here; stop the program that started it.')
    const outgoing = c.env?.outgoing
    // The one who asked must hear the answer before the listener goes away.
    if (outgoing) outgoing.once('close', shutdown)
    else setImmediate(shutdown)
    return c.json({ stopping: true as const }, 202, { Connection: 'close' })
  })

  let described: Record<string, unknown> | undefined
  app.openapi(document, (c) => {
    described ??= { ...describe(app, version) }
    return c.json(described, 200)
  })
}

function describe(app: App, version: string) {
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Pawl', version, description: 'Runs coding agents unattended; what they have done never slips back.' },
    security: [{ token: [] }],
  })
}
