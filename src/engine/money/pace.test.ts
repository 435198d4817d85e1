import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

const call = (units: number, durationMs = 5) => ({ units, durationMs })

it('keeps for quick calls what was under way at most, and what they come to for a while', () => {
  const pace = createPace()
  pace.sees(100)
  pace.sees(300)
  pace.tells([call(10), call(20)], 100)
  expect(pace.isQuick).toBe(true)
  expect(pace.wanted).toBe(200 + 8 * 30)
  expect([289, 290].map(pace.isLow)).toEqual([true, false])
})

it.each([
  ['one at a time', [call(10)]],
  ['that take long, many at once too', [call(10, 2_000), call(10, 3_000), call(10, 900)]],
])('keeps nothing for calls %s', (_, calls) => {
  const pace = createPace()
  pace.sees(300)
  pace.tells(calls, 0)
  expect([pace.isQuick, pace.wanted, pace.isLow(0)]).toEqual([false, 0, false])
})

it('counts the most under way anew after each telling, and keeps nothing when it rests', () => {
  const pace = createPace()
  pace.sees(300)
  pace.tells([call(0), call(0)], 50)
  pace.tells([call(0), call(0)], 20)
  expect(pace.wanted).toBe(30)
  pace.rest()
  expect([pace.isQuick, pace.wanted]).toEqual([false, 0])
})
