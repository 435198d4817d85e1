import { expect, test } from 'vitest'
import { modelPrices } from '../../agents/shared/model-prices.ts'
import { createPrices, price } from '../../domain/money/prices.ts'
import type { Route } from '../../gateway/base/route.ts'
import { createRoutePrices } from './route-prices.ts'

const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000, cacheReadTokens: 0, cacheWriteTokens: 0 }
const route = (names: { model: string; target: string }, isFree = false): Route => ({
  ...names,
  provider: { name: 'p', wire: 'openai-chat', baseUrl: 'http://127.0.0.1', key: async () => undefined, account: 'p', isFree },
})
const costOf = (own: Parameters<typeof createPrices>[0], at: Route) =>
  createRoutePrices(createPrices(own, { 'known-*': price(1, 2) }))(at).cost(usage)

test('the provider’s name for a model is priced, then the one that clients use', () => {
  expect(costOf({ alias: price(5, 5) }, route({ model: 'alias', target: 'known-1' }))).toMatchObject({ usd: 3, known: 'priced' })
  expect(costOf({ alias: price(5, 5) }, route({ model: 'alias', target: 'other' }))).toMatchObject({ usd: 10, known: 'priced' })
})

test('a server of one’s own asks nothing, unless a price is named; of any other nobody knows the price', () => {
  const names = { model: 'local', target: 'local' }
  expect(costOf({}, route(names, true))).toEqual({ usd: 0, countedUsd: 0, known: 'priced' })
  expect(costOf({ local: price(1, 1) }, route(names, true))).toMatchObject({ usd: 2 })
  expect(costOf({}, route(names))).toMatchObject({ usd: null, countedUsd: 3, known: 'unknown' })
})

test('the first call of a model that nobody knows fits into the budget that a task has by default', () => {
  const prices = createRoutePrices(createPrices({}, modelPrices))
  const worst = prices(route({ model: 'new', target: 'new' })).worst({ inputTokens: 40_000, outputTokens: 128_000 })
  expect(worst.known).toBe('unknown')
  expect(worst.countedUsd).toBeGreaterThan(2)
  expect(worst.countedUsd).toBeLessThan(5)
})
