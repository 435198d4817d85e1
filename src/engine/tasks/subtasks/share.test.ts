import { expect, it } from 'vitest'
import { leastUsd, tokensFor, usdFor } from './share.ts'

const purse = { cap: 5, share: 0.5, spent: 0, given: 0 }

it('a subtask gets what it asks for as long as the share of its task has it, to the last tenth of a cent', () => {
  expect(usdFor(purse, 2.5)).toBe(2.5)
  expect(usdFor({ ...purse, given: 2.4 }, 0.1)).toBe(0.1)
  expect(() => usdFor({ ...purse, given: 2.4 }, 0.11)).toThrow('$0.10 is left')
})

it('one that asks for nothing gets a part of what is left, so that there is always something for the next one', () => {
  let given = 0
  const caps = Array.from({ length: 7 }, () => {
    const cap = usdFor({ ...purse, given }, undefined)
    given += cap
    return cap
  })
  expect(caps[0]).toBe(0.5)
  expect(caps).toEqual(caps.toSorted((a, b) => b - a))
  expect(given).toBeLessThanOrEqual(2.5)
  expect(caps.at(-1)).toBeGreaterThan(leastUsd)
})

it('what the task has spent itself is not passed on', () => {
  expect(usdFor({ ...purse, spent: 4 }, 1)).toBe(1)
  expect(() => usdFor({ ...purse, spent: 4 }, 1.01)).toThrow('Ask for less')
  expect(() => usdFor({ ...purse, spent: 5 }, undefined)).toThrow('do the rest of the work yourself')
})

it('tokens are passed on the same way', () => {
  expect(tokensFor({ cap: 100_000, share: 0.5, spent: 0, given: 0 })).toBe(10_000)
  expect(() => tokensFor({ cap: 100_000, share: 0.5, spent: 0, given: 49_500 })).toThrow('yourself')
})
