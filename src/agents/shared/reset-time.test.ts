import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resetTime } from './reset-time.ts'

// A Saturday evening in summer, 22:30 in Berlin.
const now = new Date('2026-08-15T20:30:00Z')
const read = (text: string, zone = 'UTC') => resetTime(text, now, zone)?.toISOString()

test.each([
  ['Claude AI usage limit reached|1786838400', '2026-08-16T00:00:00.000Z'],
  ['Claude AI usage limit reached|1786838400000', '2026-08-16T00:00:00.000Z'],
  ['1786838400', '2026-08-16T00:00:00.000Z'],
  ['1786838400000', '2026-08-16T00:00:00.000Z'],
  ['{"error":{"resets_at":1786838400}}', '2026-08-16T00:00:00.000Z'],
  ['90', '2026-08-15T20:31:30.000Z'],
  ['retry-after: 3600', '2026-08-15T21:30:00.000Z'],
  ['Retry-After: Sat, 15 Aug 2026 22:00:00 GMT', '2026-08-15T22:00:00.000Z'],
  ['the limit ends at 2026-08-16T03:00:00+02:00, wait', '2026-08-16T01:00:00.000Z'],
  ['2026-08-16T01:00:00.123456Z', '2026-08-16T01:00:00.123Z'],
  ["You've hit your 5-hour limit · resets 3am (Europe/Berlin)", '2026-08-16T01:00:00.000Z'],
  ["You've hit your weekly limit · resets 11pm (Europe/Berlin)", '2026-08-15T21:00:00.000Z'],
  ['5-hour limit reached ∙ resets 10:31pm (UTC)', '2026-08-15T22:31:00.000Z'],
  ['limit reached ∙ resets 12am (UTC)', '2026-08-16T00:00:00.000Z'],
  ['limit reached ∙ resets 12:15pm (UTC)', '2026-08-16T12:15:00.000Z'],
  ['limit reached, resets 3pm (Asia/Kolkata)', '2026-08-16T09:30:00.000Z'],
  ['Your limit resets at 3:45 PM.', '2026-08-16T15:45:00.000Z'],
  ['Your limit resets at 23:45 UTC', '2026-08-15T23:45:00.000Z'],
  ['Weekly limit reached ∙ resets Aug 18, 5pm (America/New_York)', '2026-08-18T21:00:00.000Z'],
  ['resets August 18 at 5:30pm', '2026-08-18T17:30:00.000Z'],
  ["You've hit your usage limit. Try again at Aug 18th, 2026 5:00 PM.", '2026-08-18T17:00:00.000Z'],
  ['Please try again at 9:05 PM.', '2026-08-15T21:05:00.000Z'],
  ['Please try again in 2h 5m.', '2026-08-15T22:35:00.000Z'],
  ['Try again in 3 days 4 hours 5 minutes.', '2026-08-19T00:35:00.000Z'],
  ['try again in 1 hour and 30 minutes', '2026-08-15T22:00:00.000Z'],
  ['Please try again in 1.5s.', '2026-08-15T20:30:01.500Z'],
  ['Rate limit: retry after 30 seconds', '2026-08-15T20:30:30.000Z'],
])('%s', (text, expected) => {
  expect(read(text)).toBe(expected)
})

test.each([
  ['nothing at all', 'Number of requests has exceeded your per-minute rate limit.'],
  ['a bare promise', 'This request would exceed your rate limit. Please try again later.'],
  ['a model name with digits', "There's an issue with the selected model (claude-sonnet-4-5-20250929)."],
  ['a time that is past', 'usage limit reached|1700000000'],
  ['a time of day that has just passed', 'limit reached ∙ resets 8:25pm (UTC)'],
  ['a date years away', 'usage limit reached|1999999999'],
  ['a date far away in words', 'resets Jan 3, 5pm'],
  ['a span of years', 'try again in 900 days'],
  ['an hour that no clock shows', 'resets at 27:30'],
  ['an hour that no clock shows in the afternoon', 'resets at 15pm'],
  ['a month that no calendar has', 'resets Foo 3, 5pm'],
  ['words that look like a span', 'look in 5 files'],
])('%s is no time', (_, text) => {
  expect(read(text)).toBeUndefined()
})

test('a time without a zone is one of this machine, past midnight it is tomorrow', () => {
  expect(read('resets 11pm', 'Europe/Berlin')).toBe('2026-08-15T21:00:00.000Z')
  expect(read('resets 10pm', 'Europe/Berlin')).toBe('2026-08-16T20:00:00.000Z')
  expect(read('resets 10pm (Nowhere/Atall)', 'Europe/Berlin')).toBe('2026-08-16T20:00:00.000Z')
})

test('a time across a change of the clocks is the one the wall will show', () => {
  const before = new Date('2026-10-24T20:00:00Z')
  expect(resetTime('resets 9am (Europe/Berlin)', before)?.toISOString()).toBe('2026-10-25T08:00:00.000Z')
})

test('the year turns where a date without a year needs it', () => {
  const december = new Date('2026-12-30T12:00:00Z')
  expect(resetTime('resets Jan 2, 5pm (UTC)', december)?.toISOString()).toBe('2027-01-02T17:00:00.000Z')
})

test('whatever it is given, it answers with a time ahead or with none, and quickly', () => {
  const pieces = fc.constantFrom(
    'resets',
    ' ',
    'at',
    '5',
    'pm',
    'in',
    'days',
    '|',
    '1786838400',
    ':',
    '(UTC)',
    'Aug',
    ',',
    '.',
    'retry-after',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
      ),
      (text) => {
        const found = resetTime(text, now)
        expect(found === undefined || found > now).toBe(true)
      },
    ),
  )
  const began = performance.now()
  resetTime(`in ${'1d '.repeat(20_000)}`, now)
  resetTime('1'.repeat(100_000), now)
  resetTime(`resets ${' '.repeat(20_000)}`, now)
  expect(performance.now() - began).toBeLessThan(20_000)
})
