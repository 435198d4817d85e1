import { expect, test } from 'vitest'
import { scheduleOf } from './schedule.ts'

test('a schedule in a task file is a text, or a map with how it is gone about', () => {
  expect(scheduleOf('every 2h')).toEqual({ when: { kind: 'every', everyMs: 7_200_000 }, policies: {} })
  const written = {
    when: '@daily',
    tz: 'Asia/Kathmandu',
    as: 'nightly',
    overlap: 'queue',
    catch_up: 'none',
    session: 'keep',
    jitter: '5m',
  }
  expect(scheduleOf(written)).toEqual({
    when: { kind: 'cron', expression: '@daily', timeZone: 'Asia/Kathmandu' },
    policies: { name: 'nightly', overlap: 'queue', catchUp: 'none', session: 'keep', jitterMs: 300_000 },
  })
})

test.each([
  [7, /^must say when/],
  [{ as: 'x' }, /^must say when/],
  ['0 0 30 2 *', /^must be right: .*never comes/],
  [{ when: 'every 2h', overlap: 'skipp' }, /^must be right: .*did you mean "skip"/],
  [{ when: 'every 2h', every: '2h' }, /^must not say "every"/],
  [{ when: 'every 2h', jitter: 'some' }, /^must have a jitter/],
])('%j is refused with a sentence', (written, sentence) => {
  expect(() => scheduleOf(written)).toThrow(sentence)
})
