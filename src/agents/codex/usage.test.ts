import { expect, test } from 'vitest'
import { createUsageMeter, readUsage } from './usage.ts'

const counters = (calls: number) => ({
  inputTokens: 120 * calls,
  cachedInputTokens: 40 * calls,
  cacheWriteInputTokens: 10 * calls,
  outputTokens: 15 * calls,
})
const told = (calls: number) => ({ total: counters(calls), last: counters(1) })
const used = (calls: number) => ({
  inputTokens: 70 * calls,
  cacheReadTokens: 40 * calls,
  cacheWriteTokens: 10 * calls,
  outputTokens: 15 * calls,
  turns: calls,
})

test('a call that is told twice counts once, and shortening the history counts nothing', () => {
  const meter = createUsageMeter()
  meter.update('t', told(1), true)
  meter.update('t', told(1), true)
  meter.update('t', told(2), true)
  meter.update('t', { total: counters(2), last: { totalTokens: 6064 } }, true)
  expect(meter.take()).toEqual(used(2))
  expect(meter.take()).toBeUndefined()
})

test('a resumed thread begins where it was', () => {
  const meter = createUsageMeter()
  meter.update('t', told(7), false)
  meter.update('t', told(8), true)
  expect(meter.take()).toEqual(used(1))
})

test('of a thread whose past nobody told, only the last call is known to be of this turn', () => {
  const meter = createUsageMeter()
  meter.update('t', told(7), true)
  meter.update('agent of the agent', told(3), true)
  expect(meter.take()).toEqual(used(2))
})

test('nonsense is not counted', () => {
  const meter = createUsageMeter()
  for (const usage of [undefined, null, 'x', {}, { total: null }, { total: { inputTokens: -5, outputTokens: Infinity } }]) {
    meter.update('t', usage, true)
  }
  expect(meter.take()).toBeUndefined()
  expect(readUsage({ input_tokens: 3, cached_input_tokens: 5, output_tokens: 'x' })).toEqual({
    ...{ inputTokens: 0, cacheReadTokens: 5, cacheWriteTokens: 0, outputTokens: 0, turns: 0 },
  })
})
