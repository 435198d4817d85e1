import { describe, expect, it, test } from 'vitest'
import { compileFilePattern, createFileFilter } from './file-pattern.ts'
import { compileRegex } from './regex.ts'

const patterns = [
  ...['abc', 'a|b', 'a*b', '^a', 'b$', '^$', '^a.c$', '(ab)+c', '(?:a|b)*c', 'a{2}', 'a{2,}', '^a{1,2}$', 'a+?b', '[abc]x'],
  ...['[^a-c]', '[\\]a]', '[-a]', '[a-]', '\\d+', '\\D', '\\w+\\s\\w+', '\\bfoo\\b', '\\Bfoo', 'x{', 'a{,b}', '\\.', '\\x41'],
  ...['\\u00e9', 'é+', '(a|ab)(c|bcd)(d*)$', '(?<name>q)', '[\\w.]+@[\\w.]+', '()', 'a||b', '(^a|b$)', '.', '💥'],
]
const lines = [
  '',
  'a',
  'b',
  'abc',
  'aab',
  'ababc',
  'aa',
  'foo bar',
  'a foo b',
  'afoo',
  'x{',
  'a{,b}',
  'A',
  '1.5',
  'é',
  'éé',
  'a]x',
  'abcd',
  'q',
  'me@x.org',
  '-',
  '💥!',
  'c',
  'bx',
]

test.each(patterns)('%s matches the same lines as it does in the language itself', (pattern) => {
  const ours = compileRegex(pattern)
  const theirs = new RegExp(pattern, pattern === '💥' ? 'u' : '')
  expect(lines.filter((line) => ours.test(line))).toEqual(lines.filter((line) => theirs.test(line)))
})

describe('a regular expression', () => {
  it('regards letters without their case if it is told to', () => {
    for (const regex of [compileRegex('fOo[a-c]', { ignoreCase: true }), compileRegex('(?i)fOo[a-c]')])
      expect(['FOOB', 'foob', 'food'].map((line) => regex.test(line))).toEqual([true, true, false])
  })

  it.each(['(a+)+$', '(a|aa)*c', '(.*)*x', '(\\w*\\s*)*!', '((a*)*)*b'])(
    '%s ends soon with a line that is made to keep it busy',
    (pattern) => {
      expect(compileRegex(pattern).test(`${'a'.repeat(100_000)}-`)).toBe(false)
    },
  )

  it.each(['(a)\\1', '(?<n>a)\\k<n>', '(?=a)', '(?<!a)b', '(a', 'a)', '[a', '*a', 'a{2000}', '\\', '[b-a]', '\\p'])(
    '%s is refused with a sentence',
    (pattern) => {
      expect(() => compileRegex(pattern)).toThrow(/^The pattern .* cannot be used: .+\./)
    },
  )

  it.each([
    '((a{100}){100}){100}',
    '(a?){1000}'.repeat(100),
    `(?:${'ab'.repeat(250)}){1000}`,
    '\\Q[\\E(a{1000})(a{1000})]',
    '[[:x]{1000}b{1000}',
    '(?i)(\\pL|\\pN){1000}',
  ])('%s is refused at once, as it is huge once it is written out', (pattern) => {
    const startedAt = performance.now()
    expect(() => compileRegex(pattern)).toThrow(/too large/)
    expect(performance.now() - startedAt).toBeLessThan(200)
  })
})

it.each(['[', '[[:a', '\\p{', '(?', '{1', '\\Q', '[\\'])(
  'what %s begins and nothing ends is refused soon, however often it stands there',
  (begun) => {
    for (const length of [20_000, 2_000_000]) {
      const pattern = begun.repeat(length / begun.length)
      const startedAt = performance.now()
      expect(() => compileRegex(pattern)).toThrow(/cannot be used/)
      expect(performance.now() - startedAt).toBeLessThan(1_500)
    }
  },
)

test.each([
  ['*.ts', ['a.ts'], ['a.js', 'b/a.ts']],
  ['**/*.ts', ['a.ts', 'b/a.ts', 'b/c/a.ts'], ['a.tsx']],
  ['src/**', ['src/a', 'src/b/c'], ['a', 'srca']],
  ['src/**/x.{ts,js}', ['src/x.ts', 'src/a/b/x.js'], ['src/x.css', 'x.ts']],
  ['[a-c]?.md', ['ab.md', 'c1.md'], ['d1.md', 'a/.md', 'a.md']],
  ['{a,b/**}/z', ['a/z', 'b/q/z'], ['c/z']],
  ['a.*', ['a.b'], ['aXb']],
])('the file pattern %s means what it means elsewhere', (pattern, yes, no) => {
  const fits = compileFilePattern(pattern)
  expect([yes.filter(fits), no.filter(fits)]).toEqual([yes, []])
})

test('a file pattern and a path that are made for each other take a moment', async () => {
  const fits = createFileFilter([`${'*a'.repeat(100)}b`, '{a,b,c}'.repeat(60)])
  const startedAt = performance.now()
  expect(await fits('a'.repeat(4_096))).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})
