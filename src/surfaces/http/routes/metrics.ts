import { createRoute, z } from '@hono/zod-openapi'
import { PawlError } from '../../../domain/error.ts'
import type { App, Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { problems, strict } from '../schemas.ts'

/** The version of the text form that everybody reads. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8'

const metrics = createRoute({
  method: 'get',
  path: '/metrics',
  ...needs('read'),
  summary: 'Numbers for Prometheus, in its text form. docs/operating.md lists them.',
  request: { query: strict({}) },
  responses: { 200: { description: 'The numbers.', content: { 'text/plain': { schema: z.string() } } }, ...problems },
})

export function metricsRoutes(app: App, parts: Parts): void {
  app.openapi(metrics, async (c) => {
    if (!parts.metrics) throw new PawlError('unsupported', 'This program counts nothing.')
    return c.text(await parts.metrics({ followers: parts.streams.count }), 200, { 'Content-Type': contentType })
  })
}
