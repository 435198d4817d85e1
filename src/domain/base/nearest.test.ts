import { expect, test } from 'vitest'
import { didYouMean, editDistance, nearest } from './nearest.ts'

test('the edit distance counts insertions, deletions, substitutions and swapped neighbours', () => {
  const cases: [string, string, number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['agent', 'agents', 1],
    ['modle', 'model', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['same', 'same', 0],
  ]
  expect(cases.map(([a, b]) => editDistance(a, b))).toEqual(cases.map(([, , distance]) => distance))
})

test('the edit distance is the same in both directions', () => {
  for (const [a, b] of [
    ['timeout', 'idleTimeout'],
    ['porfile', 'profile'],
  ] as const)
    expect(editDistance(a, b)).toBe(editDistance(b, a))
})

test('a mistyped word finds the name that was meant, whatever its case', () => {
  expect(nearest('agent', ['limits', 'agents', 'args'])).toBe('agents')
  expect(nearest('TimeOut', ['retries', 'timeout'])).toBe('timeout')
  expect(nearest('claud', ['codex', 'claude'])).toBe('claude')
})

test('a word that is near to nothing finds nothing', () => {
  expect(nearest('banana', ['agents', 'limits'])).toBeUndefined()
  expect(nearest('x', ['a', 'b'])).toBeUndefined()
  expect(nearest('', ['a'])).toBeUndefined()
  expect(nearest('word', [])).toBeUndefined()
})

test('a very long word costs nothing and means nothing', () => {
  expect(nearest('a'.repeat(1_000_000), ['agents'])).toBeUndefined()
})

test('the hint ends a sentence with or without a suggestion', () => {
  expect(didYouMean('agent', ['agents'])).toBe('; did you mean "agents"?')
  expect(didYouMean('banana', ['agents'])).toBe('.')
})
