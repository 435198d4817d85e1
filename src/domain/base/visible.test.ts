import { expect, test } from 'vitest'
import { isolated, piecesOf, visible, visibleExactly } from './visible.ts'

const codes = (...numbers: number[]) => numbers.map((number) => String.fromCodePoint(number))

test.each(
  codes(
    ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x61c],
    ...[0x200b, 0x200c, 0x200d, 0x2060, 0x2061, 0xfeff, 0xad, 0x34f, 0x180e, 0x3164, 0x115f, 0xffa0, 0x2800],
    ...[0xfe00, 0xfe0f, 0xe0100, 0xe01ef, 0xe0001, 0xe0041, 0xe007f, 0x2028, 0x2029, 0xd800, 0xdfff, 0x1b, 0x9b, 0x85],
  ).map((char) => [char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0'), char]),
)('U+%s is shown between letters', (number, char) => {
  expect(visible(`a${char}b`)).toBe(`a<U+${number}>b`)
  expect(visible(visible(`a${char}b`))).toBe(`a<U+${number}>b`)
})

test.each([
  ['emoji', '👩‍👩‍👧 👩🏽‍💻 ❤️‍🔥 🏳️‍🌈 👨‍⚕️ 🤷‍♂️ 1️⃣ 🇩🇪 ☺︎'],
  [
    'flags made of tags',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  ],
  ['Persian', 'می\u200cخواهم'],
  ['Hindi and Sinhala', 'क्\u200dष ශ්\u200dරී'],
  ['variants of Han', '葛\u{e0100}'],
  ['Hebrew with points, Arabic', 'בְּרֵאשִׁית مرحبا ۝'],
  ['layout', 'a\tb\nc – “d” \u00a0é 日本語'],
])('%s stay as they are', (_, text) => {
  expect(visible(text)).toBe(text)
})

test('a joiner, selector or tag is shown as soon as it is not where a script or an emoji needs it', () => {
  expect(visible('👩\u200d\u200d👧')).toContain('<U+200D>')
  expect(visible('👩\u200dx')).toBe('👩<U+200D>x')
  expect(visible('😀\ufe0f\ufe0f\ufe0e')).toBe('😀\ufe0f<U+FE0F><U+FE0E>')
  expect(visible('🏴\u{e0067}\u{e0062}\u{e0068}\u{e0069}\u{e007f}')).toBe('🏴<U+E0067><U+E0062><U+E0068><U+E0069><U+E007F>')
  expect(visible(`a${'\u0301'.repeat(10)}`)).toBe(`a${'\u0301'.repeat(8)}<U+0301><U+0301>`)
})

test('what is approved word for word shows other spaces and every carriage return', () => {
  expect(visibleExactly('rm\u00a0-rf\u2003a\r\nb\tc')).toBe('rm<U+00A0>-rf<U+2003>a<U+000D>\nb\tc')
})

test('words from right to left are isolated, each run by itself', () => {
  expect(isolated('if שלום עולם == 5 {')).toBe('if \u2068שלום עולם\u2069 == 5 {')
  expect(isolated('only latin')).toBe('only latin')
})

test('a text in pieces shows what the whole text shows, and holds all of what it was', () => {
  for (const text of [
    'a\u202eb\u202e\u202dc',
    'if שלום == 5\u200b',
    'a\r\nb\rc\u2028',
    'x\ud800',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u200b',
  ])
    for (const exactly of [false, true]) {
      const pieces = piecesOf(text, { exactly })
      expect(pieces?.map(({ text: part }) => part).join('')).toBe(text)
      expect(pieces?.map(({ shown }) => shown).join('')).toBe(exactly ? visibleExactly(text) : visible(text))
    }
  expect(piecesOf('plain é 漢字 👩‍👩‍👧')).toBeUndefined()
})

test('a long text takes time in proportion to its length', () => {
  const startedAt = performance.now()
  for (const piece of ['\u0301', '👩\u200d', '🏴\u{e0067}', 'x\u200b', 'א\u200c']) visible(piece.repeat(200_000))
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})
