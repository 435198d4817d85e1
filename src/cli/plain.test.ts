import { expect, test } from 'vitest'
import { jsonLine, oneLine, plain, widthOf } from './plain.ts'

test('a clipboard write by OSC 52 leaves nothing behind, whichever way it is ended', () => {
  expect(plain('a\x1b]52;c;aGVsbG8=\x07b')).toBe('ab')
  expect(plain('a\x1b]52;c;aGVsbG8=\x1b\\b')).toBe('ab')
  expect(plain('a\x9d52;c;aGVsbG8=\x9cb')).toBe('ab')
})

test('a link by OSC 8 keeps its text and loses its target', () => {
  expect(plain('see \x1b]8;;https://evil.example\x1b\\the docs\x1b]8;;\x1b\\ now')).toBe('see the docs now')
})

test('colours, cursor movements and other sequences disappear whole', () => {
  expect(plain('\x1b[31mred\x1b[0m \x1b[2J\x1b[1;1Htop \x9b2Kend \x1b(B\x1bc\x1b7!')).toBe('red top end !')
  expect(plain('\x1bPq#0;2;0;0;0\x1b\\after \x1b_secret\x1b\\apc')).toBe('after apc')
})

test('an unfinished sequence hides nothing that follows it', () => {
  expect(plain('a\x1b]0;title without an end\nnext line')).toBe('a]0;title without an end\nnext line')
  expect(plain('\x1b[')).toBe('[')
})

test('only tab and newline are left of the control characters', () => {
  const all = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('|')
  expect(plain(all).replace(/[\x20-\x7e]/g, '')).toBe('\t\n\n')
})

test('a carriage return begins a new line instead of writing over one', () => {
  expect(plain('10%\r20%\r\nok')).toBe('10%\n20%\nok')
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
