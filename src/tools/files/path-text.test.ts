import { expect, test } from 'vitest'
import { readPathText } from './path-text.ts'

test.each([
  ['', 'is empty'],
  ['a\ud800', 'is no valid text'],
  ['a\nb', 'holds a control character'],
  ['a\0b', 'holds a control character'],
  ['sec\u202eret', 'holds a character that cannot be seen'],
  ['se\u00adcret', 'holds a character that cannot be seen'],
  ['.\u200b./x', 'holds a character that cannot be seen'],
  ['src/NUL', 'names a device or drive'],
  ['com1.txt', 'names a device or drive'],
  ['C:x', 'names a device or drive'],
  ['a\\b', 'holds a backslash'],
  ['~/x', 'begins with "~"'],
  ['a/b.', 'ends with a dot or a space'],
])('%j is refused: it %s', (path, why) => {
  expect(() => readPathText(path)).toThrow(why)
})

test('a name has at most 255 bytes, and a path 4096', () => {
  expect(readPathText('a'.repeat(255))).toBe('a'.repeat(255))
  for (const name of ['a'.repeat(256), 'ä'.repeat(128)]) expect(() => readPathText(name)).toThrow('a name of more than 255 bytes')
  expect(() => readPathText('a/'.repeat(2_049))).toThrow('longer than 4096 bytes')
})

test('a path has one form however its accents are written', () => {
  expect(readPathText('cafe\u0301.txt')).toBe('caf\u00e9.txt')
  expect(readPathText('../console/.hidden/nullable.txt')).toBe('../console/.hidden/nullable.txt')
})
