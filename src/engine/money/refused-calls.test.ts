import { expect, test } from 'vitest'
import { HandClock } from '../../../test/engine/test-clock.ts'
import { facts } from '../../../test/gateway/purse-parts.ts'
import { createRefusedCalls } from './refused-calls.ts'

const refused = (number: number, kind: 'unauthorized' | 'invalid' = 'unauthorized') => ({
  ...facts(number, undefined),
  refusal: { kind, message: 'no' },
})

test('a flood of refused calls is told one by one at first, then now and then, and none is left out of the count', () => {
  const clock = new HandClock()
  const calls = createRefusedCalls(clock)
  const told = Array.from({ length: 1_000 }, (_, at) => calls.add(refused(at + 1)))
  expect(told.slice(0, 20)).toEqual(Array(20).fill(0))
  expect(told.slice(20).every((alike) => alike === undefined)).toBe(true)
  clock.advance(10_000)
  expect(calls.add(refused(1_001))).toBe(980)
  expect(calls.add(refused(1_002))).toBeUndefined()
  expect(calls.add(refused(1_003))).toBeUndefined()
  expect(calls.rest()).toMatchObject([{ call: { number: 1_003 }, alike: 1 }])
  expect(calls.rest()).toEqual([])
})

test('one of another kind is told, whatever the flood', () => {
  const calls = createRefusedCalls(new HandClock())
  for (let number = 1; number < 100; number++) calls.add(refused(number))
  expect(calls.add(refused(100, 'invalid'))).toBe(0)
})
