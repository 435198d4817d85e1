import { expect, test } from 'vitest'
import { Duration, DurationLimit, formatDuration, parseDuration } from './duration.ts'

test('a duration is written with its unit, or as a bare number of seconds', () => {
  const cases: [string | number, number | undefined][] = [
    ['30m', 1_800_000],
    ['10s', 10_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
    ['1.1m', 66_000],
    ['10 s', 10_000],
    [90, 90_000],
    ['90', 90_000],
    [0.5, 500],
    [0, 0],
    ['0', 0],
    ['0s', 0],
    ['0.0001ms', 1],
    ['', undefined],
    ['m', undefined],
    ['-5s', undefined],
    ['5 weeks', undefined],
    ['1e3', undefined],
    [-1, undefined],
    [Number.NaN, undefined],
  ]
  expect(cases.map(([written]) => [written, parseDuration(written)])).toEqual(cases)
})

test('a duration is written back as briefly as it can be, and reads as the same', () => {
  const cases: [number, string][] = [
    [0, '0'],
    [500, '500ms'],
    [1500, '1500ms'],
    [10_000, '10s'],
    [90_000, '90s'],
    [1_800_000, '30m'],
    [86_400_000, '1d'],
  ]
  expect(cases.map(([ms]) => [ms, formatDuration(ms)])).toEqual(cases)
  for (const [ms, written] of cases) expect(parseDuration(written)).toBe(ms)
})

test('0 is no wait for a wait, and no limit for a limit', () => {
  expect([Duration.parse(0), DurationLimit.parse(0), DurationLimit.parse('5s')]).toEqual([0, null, 5000])
})

test('a wait longer than a timer can hold is refused rather than over at once', () => {
  expect(DurationLimit.parse('24d')).toBe(2_073_600_000)
  expect(DurationLimit.safeParse('25d').error?.issues[0]?.message).toMatch(/^must be at most 24d/)
  expect(DurationLimit.safeParse(-1).success).toBe(false)
})
