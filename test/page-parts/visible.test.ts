import { expect, it } from 'vitest'
import { visible } from '../../web/src/parts/visible.ts'

it.each([
  ['rm \u202Etxt.exe', 'rm <U+202E>txt.exe'],
  ['a\u0000b\u001b[8mc\rd', 'a<U+0000>b<U+001B>[8mc<U+000D>d'],
  ['\u{e0041}\ufeff\u200b', '<U+E0041><U+FEFF><U+200B>'],
])('what would not be seen in a question, or would turn its words around, is written out: %j', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

it('leaves words of every script, new lines, tabs and joined signs as they are', () => {
  const text = 'two\nlines\tשלום 漢字 👩‍👩‍👧 नमस्ते'
  expect(visible(text)).toBe(text)
})
