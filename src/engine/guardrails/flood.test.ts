import { expect, test } from 'vitest'
import { createFloodWatch } from './flood.ts'

function tellFor(seconds: number, perSecond: (second: number) => number, limit: number): boolean {
  let nowMs = 0
  const isFlood = createFloodWatch(limit, () => nowMs)
  let isFlooded = false
  for (let second = 0; second < seconds; second++)
    for (let n = 0, count = perSecond(second); n < count; n++) {
      nowMs = second * 1000 + (n * 999) / count
      isFlooded ||= isFlood()
    }
  return isFlooded
}

test('ten seconds above the limit are a flood, and nine are not', () => {
  expect(tellFor(10, () => 101, 100)).toBe(false)
  expect(tellFor(11, () => 101, 100)).toBe(true)
})

test('a burst, a pause, or just as much as is allowed is none', () => {
  expect(tellFor(60, (second) => (second === 5 ? 50_000 : 10), 100)).toBe(false)
  expect(tellFor(60, (second) => (second % 8 === 0 ? 5 : 200), 100)).toBe(false)
  expect(tellFor(60, (second) => (second % 8 === 0 ? 0 : 200), 100)).toBe(false)
  expect(tellFor(60, () => 100, 100)).toBe(false)
  expect(tellFor(60, () => 500, 0)).toBe(false)
})
