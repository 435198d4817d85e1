import { createRoute, z } from '@hono/zod-openapi'
import { CostQuery, CostView, PriceListView } from '../../../domain/money/cost-view.ts'
import { type App, api, type Parts } from '../app.ts'
import { needs } from '../needs.ts'
import { json, problems, strict } from '../schemas.ts'

const list = createRoute({
  method: 'get',
  path: `${api}/costs`,
  ...needs('read'),
  summary: 'What was spent, by agent, model, provider, task, user or day; today if nothing else is said.',
  request: { query: strict(CostQuery.shape) },
  responses: { 200: json(z.object(CostView.shape).openapi('Costs'), 'The sums.'), ...problems },
})

const prices = createRoute({
  method: 'get',
  path: `${api}/prices`,
  ...needs('read'),
  summary: 'What tokens are counted for, and where that comes from.',
  responses: { 200: json(z.object(PriceListView.shape).openapi('Prices'), 'The prices.'), ...problems },
})

export function costRoutes(app: App, { runtime }: Parts): void {
  app.openapi(list, async (c) => c.json(await runtime.listCosts(c.req.valid('query')), 200))
  app.openapi(prices, async (c) => c.json(await runtime.listPrices(), 200))
}
