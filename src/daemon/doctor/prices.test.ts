import { expect, test } from 'vitest'
import type { Config } from '../../config/config.ts'
import { prices } from './prices.ts'

const config = (models: readonly string[], more: object = {}) =>
  ({
    agents: models.map((model) => ({ model })),
    models: {},
    prices: {},
    budget: { timeZone: 'UTC' },
    ...more,
  }) as unknown as Config
const at = (date: string) => Date.parse(date)

test('doctor says how old the prices are', () => {
  expect(prices(config(['claude-sonnet-4-5']), at('2025-12-03'))).toEqual({
    level: 'ok',
    detail: 'the list of prices is of 2025-11, 1 month old',
  })
  expect(prices(config([]), at('2026-11-19'))).toMatchObject({ level: 'note', detail: expect.stringContaining('12 months old') })
})

test('doctor warns of a model that is counted by the price of a relative', () => {
  const found = prices(config(['claude-sonnet-4-9', 'gpt-5.1']), at('2025-12-03'))
  expect(found).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining('claude-sonnet-4-9 is counted by the price of "claude-sonnet-4*"'),
    fix: expect.stringContaining('"prices" in the settings'),
  })
  expect(found.detail).not.toContain('gpt-5.1')
  const listed = { models: { fast: { provider: 'there', target: 'gpt-5.9' } } }
  expect(prices(config(['fast'], listed), at('2025-12-03')).detail).toContain('gpt-5.9 is counted by the price of "gpt-5*"')
  const own = { prices: { 'claude-sonnet-4-9': { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 } } }
  expect(prices(config(['claude-sonnet-4-9'], own), at('2025-12-03')).level).toBe('ok')
})
