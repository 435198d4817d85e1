import { expect, test } from 'vitest'
import { headerTime, later, retryAfter, saidTime, secondsUntil } from './limit-times.ts'

const now = new Date('2026-11-15T12:00:00Z')
const inMs = (ms: number) => new Date(now.getTime() + ms)

test.each([
  ['30', 30_000],
  ['0.5', 500],
  ['1794751200', 7_200_000],
  ['1794751200000', 7_200_000],
  ['6m0s', 360_000],
  ['17ms', 17],
  ['1h2m3.5s', 3_723_500],
  ['2 days 3 hours', 183_600_000],
  ['2026-11-15T12:00:41Z', 41_000],
  ['Sun, 15 Nov 2026 12:01:00 GMT', 60_000],
])('the header %s is a time', (value, ms) => {
  expect(headerTime(value, now)).toEqual(inMs(ms))
})

test.each([undefined, '', 'soon', '-5', '1m and more', '9999999', '1200000000'])(
  'the header %s is none that can be meant',
  (value) => {
    expect(headerTime(value, now)).toBeUndefined()
  },
)

test('the finer of two headers counts', () => {
  expect(retryAfter({ 'retry-after-ms': '1500', 'retry-after': '2' }, now)).toEqual(inMs(1500))
  expect(retryAfter({ 'retry-after-ms': 'x', 'retry-after': '2' }, now)).toEqual(inMs(2000))
  expect(retryAfter({}, now)).toBeUndefined()
})

test('words are read as far as they name a time from now', () => {
  expect(saidTime('Please try again in 20ms. Visit …', now)).toEqual(inMs(20))
  expect(saidTime('Please try again in 6m0s.', now)).toEqual(inMs(360_000))
  expect(saidTime('Try again after 2 hours 5 minutes', now)).toEqual(inMs(7_500_000))
  expect(saidTime('Limit 30000 in tokens per min', now)).toBeUndefined()
  expect(saidTime(`in ${'1 '.repeat(5000)}`, now)).toBeUndefined()
})

test('of two times the later counts, and seconds are rounded up', () => {
  expect(later(inMs(1), inMs(2))).toEqual(inMs(2))
  expect(later(undefined, inMs(2))).toEqual(inMs(2))
  expect(secondsUntil(inMs(1001), now)).toBe(2)
  expect(secondsUntil(inMs(-1), now)).toBe(0)
})
