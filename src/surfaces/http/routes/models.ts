import { createRoute, z } from '@hono/zod-openapi'
import { ModelView } from '../../../domain/view/model.ts'
import { ModelFigures, ModelFiguresQuery, ModelFiguresView } from '../../../domain/view/model-metrics.ts'
import { type App, api, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const Model = z.object(ModelView.shape).openapi('Model')
const Models = z.object({ items: z.array(Model), next: z.null() })

const list = createRoute({
  method: 'get',
  path: `${api}/models`,
  ...needs('read'),
  summary: 'Models that the settings list, who serves them, and whether they can be asked.',
  request: { query: strict({ check: z.enum(['true', 'false']).optional() }) },
  responses: { 200: json(Models, 'In the order of the settings. With `check` each provider was asked.'), ...problems },
})

const Figures = z
  .object({ ...ModelFiguresView.shape, items: z.array(z.object(ModelFigures.shape).openapi('ModelFigures')) })
  .openapi('ModelFiguresList')

const figures = createRoute({
  method: 'get',
  path: `${api}/models/figures`,
  ...needs('read'),
  summary:
    'How models did that were called through the gateway: how soon and how fast they answered, how often not, and what came from caches.',
  request: { query: strict(ModelFiguresQuery.shape) },
  responses: { 200: json(Figures, 'Those that were called most first; 500 at most.'), ...problems },
})

export function modelRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) =>
    c.json({ items: await runtime.listModels({ check: c.req.valid('query').check === 'true' }), next: null }, 200),
  )
  app.openapi(figures, async (c) => c.json(await runtime.listModelFigures(c.req.valid('query')), 200))
}
