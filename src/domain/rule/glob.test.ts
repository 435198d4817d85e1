import { expect, test } from 'vitest'
import { compileGlob } from './glob.ts'

test('a star stands for anything', () => {
  const cases: [string, string, boolean][] = [
    ['', '', true],
    ['*', '', true],
    ['a*c', 'abbbc', true],
    ['a*c', 'abbb', false],
    ['*b*', 'abc', true],
    ['a.c', 'abc', false],
    ['(a+)+$', 'aaaa', false],
    ['git *', 'git a/b c', true],
    ['é*😀', 'éxx😀', true],
  ]
  expect(cases.map(([pattern, text]) => [pattern, text, compileGlob(pattern).matches(text)])).toEqual(cases)
})

test('in paths one star stays within a name, two go beyond', () => {
  const cases: [string, string, boolean][] = [
    ['src/*', 'src/a.ts', true],
    ['src/*', 'src/a/b.ts', false],
    ['src/**', 'src/a/b.ts', true],
    ['src/**/b.ts', 'src/b.ts', true],
    ['src/**/b.ts', 'src/a/c/b.ts', true],
    ['src/**/b.ts', 'src/ab.ts', false],
    ['**/.env', '/x/y/.env', true],
    ['**/.env', '.env', true],
    ['**/.env', 'a.env', false],
  ]
  expect(cases.map(([pattern, text]) => [pattern, text, compileGlob(pattern, { names: true }).matches(text)])).toEqual(cases)
})

test('the cruellest pattern and text take time by their length only', () => {
  const text = `${'a'.repeat(65_000)}b`
  expect(compileGlob(`${'*a'.repeat(20)}c`).matches(text)).toBe(false)
  expect(compileGlob(`${'**/a*'.repeat(20)}c`, { names: true }).matches(text)).toBe(false)
})
