import type { NotFoundHandler } from 'hono'
import type { App, HttpEnv } from './app.ts'
import { Refusal } from './errors.ts'

/** Tells a path that does not exist from one that exists for other methods. */
export function createMethodCheck(app: App): NotFoundHandler<HttpEnv> {
  const known = new Map<string, Set<string>>()
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue
    const methods = known.get(path) ?? new Set<string>()
    methods.add(method)
    if (method === 'GET') methods.add('HEAD')
    known.set(path, methods)
  }
  const table = [...known].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`),
    allow: [...methods].join(', '),
  }))
  return (c) => {
    const match = table.find(({ pattern }) => pattern.test(c.req.path))
    if (!match)
      throw new Refusal(404, 'not_found', 'There is nothing under this path; GET /api/v1/openapi.json lists what there is.')
    throw new Refusal(405, 'unsupported', `This path does not take that method; it takes ${match.allow}.`, { Allow: match.allow })
  }
}
