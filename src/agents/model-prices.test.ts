import { expect, test } from 'vitest'
import { noUsage } from '../domain/money/cost.ts'
import { createPrices, modelFits } from '../domain/money/prices.ts'
import { modelPrices } from './model-prices.ts'

const million = { ...noUsage, inputTokens: 1e6, outputTokens: 1e6, cacheReadTokens: 1e6, cacheWriteTokens: 1e6 }

test('a well-known model has a price for each kind of token, whoever provides it', () => {
  const prices = createPrices({}, modelPrices)
  expect(prices.cost('claude-sonnet-4-5-20250929', million)).toEqual({ usd: 22.05, countedUsd: 22.05, known: 'priced' })
  expect(prices.of('anthropic/claude-sonnet-4-5')).toEqual(prices.of('claude-sonnet-4-5'))
  expect(prices.of('gpt-5-mini')?.input).toBe(0.25)
  expect(prices.of('gpt-5.1-codex')?.input).toBe(1.25)
})

test('what the program itself says it cost counts', () => {
  expect(createPrices({}, modelPrices).cost('claude-sonnet-4-5', million, 0.5)).toEqual({
    usd: 0.5,
    countedUsd: 0.5,
    known: 'reported',
  })
})

test('what nobody knows the price of is unknown, and counts as if it were the dearest', () => {
  const prices = createPrices({}, modelPrices)
  const { usd, countedUsd, known } = prices.cost('a-model', { ...noUsage, outputTokens: 1e6 })
  expect({ usd, known }).toEqual({ usd: null, known: 'unknown' })
  for (const model of ['claude-opus-4-1', 'gpt-5', 'gemini-2.5-pro'])
    expect(countedUsd).toBeGreaterThanOrEqual(prices.of(model)!.output)
  expect(prices.cost(undefined, noUsage)).toEqual({ usd: null, countedUsd: 0, known: 'unknown' })
})

test('the settings win, and of them the longest pattern that fits', () => {
  const flat = (usd: number) => ({ input: usd, output: usd, cacheRead: usd, cacheWrite: usd })
  const prices = createPrices({ 'claude-*': flat(1), 'claude-opus*': flat(2), 'qwen*': flat(0) }, modelPrices)
  expect(prices.of('claude-opus-4-1')?.input).toBe(2)
  expect(prices.of('claude-haiku-4-5')?.input).toBe(1)
  expect(prices.cost('qwen3', million)).toEqual({ usd: 0, countedUsd: 0, known: 'priced' })
})

test('a pattern fits whole names, and its other signs mean themselves', () => {
  expect(modelFits('gpt-4.1*', 'gpt-4x1')).toBe(false)
  expect(modelFits('o3*', 'foo3')).toBe(false)
  expect(modelFits('*', 'anything/at:all')).toBe(true)
})
