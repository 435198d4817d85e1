import { expect, test } from 'vitest'
import { noUsage } from '../../domain/money/cost.ts'
import { createPrices, modelFits } from '../../domain/money/prices.ts'
import { modelPrices } from './model-prices.ts'

const million = { ...noUsage, inputTokens: 1e6, outputTokens: 1e6, cacheReadTokens: 1e6, cacheWriteTokens: 1e6 }

test('a well-known model has a price for each kind of token, whoever provides it', () => {
  const prices = createPrices({}, modelPrices)
  expect(prices.cost('claude-haiku-4-5-20251001', million)).toEqual({ usd: 7.35, countedUsd: 7.35, known: 'priced' })
  expect(prices.of('anthropic/claude-sonnet-4-5')).toEqual(prices.of('claude-sonnet-4-5'))
  expect(prices.of('gpt-5-mini')?.input).toBe(0.25)
  expect(prices.of('gpt-5.1-codex')?.input).toBe(1.25)
})

test('a price that was found by a wide pattern alone is known to be a guess', () => {
  const prices = createPrices({ 'mine*': { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } }, modelPrices)
  for (const known of [
    'claude-sonnet-4-5',
    'claude-sonnet-4-5-20250929',
    'anthropic/claude-haiku-4-5@20251001',
    'gpt-5',
    'o3-2025-04-16',
  ])
    expect([known, prices.guessedFrom(known)]).toEqual([known, undefined])
  expect(prices.guessedFrom('claude-sonnet-4-9')).toBe('claude-sonnet-4*')
  expect(prices.guessedFrom('gpt-5.9-codex')).toBe('gpt-5*')
  expect(prices.guessedFrom('claude-opus-4-7')).toBe('claude-opus-4*')
  for (const unknown of ['a-model', 'mine-9']) expect(prices.guessedFrom(unknown)).toBeUndefined()
})

test('what the program itself says it cost counts', () => {
  expect(createPrices({}, modelPrices).cost('claude-sonnet-4-5', million, 0.5)).toEqual({
    usd: 0.5,
    countedUsd: 0.5,
    known: 'reported',
  })
})

test('what nobody knows the price of is unknown, and counts as the dearest of those that are commonly used', () => {
  const prices = createPrices({}, modelPrices)
  const { usd, countedUsd, known } = prices.cost('a-model', { ...noUsage, outputTokens: 1e6 })
  expect({ usd, known }).toEqual({ usd: null, known: 'unknown' })
  for (const model of ['claude-opus-4-5', 'claude-sonnet-4-5', 'gpt-5', 'gemini-2.5-pro'])
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

test('what is kept for an hour, thought or paid by the piece has its own price where there is one', () => {
  const prices = createPrices(
    { 'm*': { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2, reasoning: 4, pieces: { search: 0.5 } } },
    modelPrices,
  )
  const usage = { inputTokens: 0, outputTokens: 1e6, cacheReadTokens: 0, cacheWriteTokens: 1e6 }
  expect(prices.cost('m', { ...usage, cacheWriteHourTokens: 4e5, reasoningTokens: 5e5 }).usd).toBeCloseTo(0.75 + 0.8 + 1 + 2, 9)
  expect(prices.cost('m', { ...usage, pieces: { search: 3 } }).usd).toBeCloseTo(3.25 + 1.5, 9)
  // Thinking is a part of the output, and costs the same where nothing else is said.
  const sonnet = (reasoningTokens: number) => prices.cost('claude-sonnet-4-5', { ...usage, reasoningTokens }).usd
  expect(sonnet(1e6)).toBe(sonnet(0))
})

test('a fee that nobody knows makes the cost unknown, and counts as the dearest of its name', () => {
  const prices = createPrices({}, modelPrices)
  const cost = prices.cost('gpt-5', { ...noUsage, pieces: { web_search_requests: 2, dances: 1 } })
  expect(cost).toEqual({ usd: null, countedUsd: 0.02, known: 'unknown' })
  expect(prices.cost('gpt-5', { ...noUsage, pieces: { dances: 0 } }).known).toBe('priced')
})

test('no usage costs more than the worst of as many tokens', () => {
  const prices = createPrices({}, modelPrices)
  for (const { pattern } of prices.all) {
    const model = pattern.replaceAll('*', '')
    const worst = prices.worst(model, { inputTokens: 1e6, outputTokens: 1e6 }).countedUsd
    for (const input of ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const) {
      const usage = { ...noUsage, [input]: 1e6, outputTokens: 1e6, reasoningTokens: 1e6 }
      const hour = input === 'cacheWriteTokens' ? { cacheWriteHourTokens: 1e6 } : {}
      expect(prices.cost(model, { ...usage, ...hour }).countedUsd).toBeLessThanOrEqual(worst)
    }
  }
})

test('what nothing keeps for an hour is not counted as if it were', () => {
  const prices = createPrices({}, modelPrices)
  const worst = (isKeptForHour?: boolean) =>
    prices.worst('claude-sonnet-4-5', { inputTokens: 1e5, outputTokens: 0, isKeptForHour }).countedUsd
  expect([worst(), worst(true), worst(false)]).toEqual([0.6, 0.6, 0.375])
})

test('a call into which very much goes has another price for all of it', () => {
  const prices = createPrices({}, modelPrices)
  const outputOf = (inputTokens: number, cacheReadTokens: number) =>
    prices.cost('gemini-2.5-pro', { ...noUsage, inputTokens, cacheReadTokens, outputTokens: 1e6 }).usd
  expect(outputOf(100_000, 100_000)).toBeCloseTo(0.125 + 0.031 + 10, 9)
  expect(outputOf(100_000, 100_001)).toBeCloseTo(0.25 + 0.062500625 + 15, 9)
})
