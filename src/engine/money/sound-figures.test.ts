import { expect, it } from 'vitest'
import { soundFigures } from './sound-figures.ts'

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 1 }
const end = { outcome: 'succeeded', text: 'done' } as const

it('keeps what can be', () => {
  const sound = { ...end, costUsd: 99_999_999, usage, retryAt: new Date(0) }
  expect(soundFigures(sound)).toEqual({ end: sound, left: [] })
})

it.each([1e12, -1, Number.NaN, Number.POSITIVE_INFINITY])('leaves out a cost of %s and says so', (costUsd) => {
  const { end: sound, left } = soundFigures({ ...end, costUsd })
  expect(sound).toEqual(end)
  expect(left).toEqual([expect.stringContaining(String(costUsd))])
})

it.each([1.5, -1, 1e300])('counts %s tokens as none and keeps the other counts', (inputTokens) => {
  const { end: sound, left } = soundFigures({ ...end, usage: { ...usage, inputTokens } })
  expect(sound.usage).toEqual({ ...usage, inputTokens: 0 })
  expect(left).toEqual([expect.stringContaining('inputTokens')])
})

it('leaves out a time that is none', () => {
  expect(soundFigures({ ...end, retryAt: new Date(Number.NaN) }).end.retryAt).toBeUndefined()
})
