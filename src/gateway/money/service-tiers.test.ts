import { expect, it } from 'vitest'
import { timesPaid } from './service-tiers.ts'

it('a better service is counted dearer than the listed price, and none other', () => {
  for (const body of [{}, { service_tier: null }, { service_tier: 'auto' }, { service_tier: 'flex' }, { speed: 'standard' }])
    expect(timesPaid(body)).toBe(1)
  expect(timesPaid({ service_tier: 'priority' })).toBeGreaterThanOrEqual(2)
  expect(timesPaid({ serviceTier: 'PRIORITY' })).toBeGreaterThanOrEqual(2)
  expect(timesPaid({ service_tier: 'of which nobody knew' })).toBeGreaterThanOrEqual(2)
  expect(timesPaid({ speed: 'fast' })).toBe(6)
})
