import { expect, test } from 'vitest'
import { withoutMarks } from '../../web/src/parts/without-marks.ts'

test.each([
  ['**Done.** `isLeap` is right, see [the test](src/a.test.ts).', 'Done. isLeap is right, see the test.'],
  ['# Leap years\n\n- one\n- two', 'Leap years\n\n· one\n· two'],
  ['```ts\nconst a = 1\n```', '\nconst a = 1\n'],
  ['2 * 3 * 4 and a_b_c stay, and so does <b>this</b>', '2 * 3 * 4 and a_b_c stay, and so does <b>this</b>'],
])('the words of a text without its marks: %j', (text, words) => expect(withoutMarks(text)).toBe(words))

test('however it is written, it is read in a moment', () => {
  const since = performance.now()
  for (const sign of ['*', '`', '[', '](', '> ', '**a', '```\n']) withoutMarks(sign.repeat(100_000))
  expect(performance.now() - since).toBeLessThan(20_000)
})
