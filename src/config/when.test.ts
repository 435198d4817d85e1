import { expect, test } from 'vitest'
import { parseWhen } from './when.ts'

test.each([
  ['0 7 * * 1-5', { kind: 'cron', expression: '0 7 * * 1-5', timeZone: 'Europe/Berlin' }],
  [' @daily ', { kind: 'cron', expression: '@daily', timeZone: 'Europe/Berlin' }],
  ['every 90m', { kind: 'every', everyMs: 5_400_000 }],
  ['idle 30m', { kind: 'idle', idleMs: 1_800_000, of: 'agent' }],
  ['initial', { kind: 'initial' }],
  ['at 2026-05-01 09:00', { kind: 'at', at: '2026-05-01T07:00:00.000Z' }],
  ['at 2026-05-01', { kind: 'at', at: '2026-04-30T22:00:00.000Z' }],
  ['at 2026-05-01T09:00:00+05:30', { kind: 'at', at: '2026-05-01T03:30:00.000Z' }],
  ['at 2026-05-01T09:00Z', { kind: 'at', at: '2026-05-01T09:00:00.000Z' }],
  // An hour that clocks jump over.
  ['at 2026-03-29 02:30', { kind: 'at', at: '2026-03-29T01:00:00.000Z' }],
])('"%s" is understood', (written, when) => {
  expect(parseWhen(written, { timeZone: 'Europe/Berlin' })).toEqual(when)
})

test.each([
  ['every', /needs a duration/],
  ['every now and then', /needs a duration/],
  ['every 0', /at least 1s/],
  ['every 400d', /at most 366d/],
  ['at noon', /names no moment/],
  ['at 2026-02-30 09:00', /names no moment/],
  ['at 2026-05-01 25:00', /names no moment/],
  ['initial please', /a word of its own/],
  ['0 0 30 2 *', /never comes/],
  ['sometimes', /five fields/],
  ['evry 2h', /did you mean "every"\?/],
])('"%s" is refused with a sentence', (written, sentence) => {
  expect(() => parseWhen(written, { timeZone: 'UTC' })).toThrow(sentence)
})

test('a zone that is none is refused, whatever it is for', () => {
  expect(() => parseWhen('every 2h', { timeZone: 'Mars/Olympus' })).toThrow('"Mars/Olympus" is no time zone')
  expect(() => parseWhen('@daily', { timeZone: 'Europe/Berln' })).toThrow('did you mean "Europe/Berlin"?')
})
