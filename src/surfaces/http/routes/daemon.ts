import { createRoute, z } from '@hono/zod-openapi'
import { PawlError } from '../../../domain/error.ts'
import { HaltView } from '../../../domain/view/view.ts'
import { type App, api, callerOf, type Parts } from '../app.ts'
import type { Description } from '../describe.ts'
import { addPage, needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const stop = createRoute({
  method: 'post',
  path: `${api}/shutdown`,
  ...needs('administer'),
  summary: 'Stop the daemon. Running tasks go back to the queue and lose nothing.',
  request: { query: strict({}), body: { content: { 'application/json': { schema: strict({}) } } } },
  responses: { 202: json(z.object({ stopping: z.literal(true) }), 'It is about to stop.'), ...problems },
})

const stopAll = createRoute({
  method: 'post',
  path: `${api}/stop-all`,
  ...needs('administer'),
  summary: 'End every agent of every worker at once, and start none until `resume`, also after a restart. Asking twice is fine.',
  request: {
    query: strict({}),
    body: { content: { 'application/json': { schema: strict({ reason: z.string().min(1).max(1000).optional() }) } } },
  },
  responses: {
    200: json(
      z.object({ halt: z.object(HaltView.shape).openapi('Halt'), stopping: z.array(z.string()) }),
      'The tasks that are being stopped.',
    ),
    ...problems,
  },
})

const resume = createRoute({
  method: 'post',
  path: `${api}/resume`,
  ...needs('administer'),
  summary: 'Let the queue go on after `stop-all`. What was ended stays ended and can be retried.',
  request: { query: strict({}), body: { content: { 'application/json': { schema: strict({}) } } } },
  responses: { 200: json(z.object({ resumed: z.boolean() }), 'Whether anything had been stopped.'), ...problems },
})

const document = createRoute({
  method: 'get',
  path: `${api}/openapi.json`,
  ...needs('leave'),
  summary: 'This description.',
  request: { query: strict({}) },
  responses: { 200: json(z.record(z.string(), z.unknown()), 'OpenAPI 3.1.'), ...problems },
})

const docs = createRoute({
  method: 'get',
  path: '/docs',
  ...needs('leave'),
  summary: 'This description as a page for people.',
  request: { query: strict({}) },
  responses: { 200: { description: 'A page without scripts.', content: { 'text/html': { schema: z.string() } } }, ...problems },
})

export function daemonRoutes(app: App, { runtime, audit, shutdown, version }: Parts): void {
  app.openapi(stop, async (c) => {
    if (!shutdown)
      throw new PawlError('unsupported', 'This program cannot be stopped from here; stop the program that started it.')
    await audit.record(callerOf(c), 'daemon.stop', 'daemon')
    const outgoing = c.env?.outgoing
    // The one who asked must hear the answer before the listener goes away.
    if (outgoing) outgoing.once('close', shutdown)
    else setImmediate(shutdown)
    return c.json({ stopping: true as const }, 202, { Connection: 'close' })
  })

  app.openapi(stopAll, async (c) => c.json(await runtime.stopAll({ ...callerOf(c), ...c.req.valid('json') }), 200))
  app.openapi(resume, async (c) => c.json(await runtime.resume(callerOf(c)), 200))
  // Few ask for it, and it is long: made and loaded for the first who does.
  let described: Promise<Description> | undefined
  const describe = () => {
    described ??= import('../describe.ts').then(({ describeApi }) => describeApi(app, version))
    return described
  }
  app.openapi(document, async (c) => c.json({ ...(await describe()) }, 200))
  app.openapi(docs, async (c) => {
    const { docsPage, docsPolicy } = await import('../docs-page.ts')
    c.header('Content-Security-Policy', docsPolicy)
    return c.html(docsPage(await describe()), 200)
  })
  addPage(app, '/docs.css', async (c) => {
    const { docsStyle } = await import('../docs-page.ts')
    return c.body(docsStyle, 200, { 'Content-Type': 'text/css; charset=utf-8' })
  })
}
