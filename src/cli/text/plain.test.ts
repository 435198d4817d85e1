import { expect, test } from 'vitest'
import { jsonLine, oneLine, plain, widthOf } from './plain.ts'

test('escape sequences are shown, so that nothing that a shell would run hides in one', () => {
  expect(plain('a\x1b]52;c;aGVsbG8=\x07b')).toBe('a<U+001B>]52;c;aGVsbG8=<U+0007>b')
  expect(plain('echo ok \x1b]0;; rm -rf ~ #\x1b\\')).toBe('echo ok <U+001B>]0;; rm -rf ~ #<U+001B>\\')
  expect(plain('see \x1b]8;;https://evil.example\x1b\\docs')).toBe('see <U+001B>]8;;https://evil.example<U+001B>\\docs')
  expect(plain('\x1b[8mhidden\x9b0m \x9d52;c;eA==\x9c')).toBe('<U+001B>[8mhidden<U+009B>0m <U+009D>52;c;eA==<U+009C>')
})

test('only tab and newline are left of the control characters', () => {
  const all = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('|')
  expect(plain(all).replace(/[\x20-\x7e]/g, '')).toBe('\t\n')
})

test('carriage return, backspace and delete are shown instead of writing over a line', () => {
  expect(plain('rm -rf ~\rls\b\b\x7f\r\nok')).toBe('rm -rf ~<U+000D>ls<U+0008><U+0008><U+007F>\nok')
})

test('bidi controls, line separators and tag characters are shown by their numbers', () => {
  expect(plain('a\u202eb\u2066c\u200fd\u061ce\u2028f\u{e0041}')).toBe('a<U+202E>b<U+2066>c<U+200F>d<U+061C>e<U+2028>f<U+E0041>')
})

test('ordinary text of any script stays as it is', () => {
  const text = 'naïve Straße – 日本語 עברית 👩‍👩‍👧\tend'
  expect(plain(text)).toBe(text)
})

test('a line is cut by the columns it takes, not by its characters', () => {
  expect(oneLine('  two\n\n lines ', 40)).toBe('two lines')
  expect(oneLine('日本語テキスト', 8)).toBe('日本語…')
  expect(widthOf(oneLine('日本語テキスト', 8))).toBeLessThanOrEqual(8)
  expect(oneLine('abcdef', 6)).toBe('abcdef')
  expect(oneLine('abcdefg', 6)).toBe('abcde…')
})

test('a text of megabytes is cut without being read to its end', () => {
  const startedAt = performance.now()
  expect(widthOf(oneLine('x'.repeat(100_000_000), 80))).toBe(80)
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

test('JSON for the eye has no raw controls and reads back as the same value', () => {
  const value = { text: 'a\x1b[2J\x9b2J\u202e\u{e0041}\u2028' }
  const line = jsonLine(value)
  expect(line).toMatch(/^[\x20-\x7e]*$/)
  expect(JSON.parse(line)).toEqual(value)
})
