import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSearch, type Found } from './search.ts'

const searchOf = (patterns: readonly string[]) => {
  const search = createSearch()
  for (const pattern of patterns) search.add(pattern, pattern)
  return search
}

function findSlowly(patterns: readonly string[], text: string): Found[] {
  const found: Found[] = []
  const longestFirst = patterns.toSorted((a, b) => b.length - a.length)
  for (let start = 0; start < text.length; ) {
    const name = longestFirst.find((pattern) => text.startsWith(pattern, start))
    if (name !== undefined) found.push({ start, end: start + name.length, name })
    start += name?.length ?? 1
  }
  return found
}

function openEndSlowly(patterns: readonly string[], text: string): number {
  for (let start = 0; start <= text.length - 3; start++) {
    const end = text.slice(start)
    if (patterns.some((pattern) => pattern.length > end.length && pattern.startsWith(end))) return end.length
  }
  return patterns.some((pattern) => text.slice(-2).includes(pattern[0]!)) ? Math.min(2, text.length) : 0
}

const written = (signs: readonly string[], minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...signs), { minLength, maxLength }).map((all) => all.join(''))

// Of few signs, so that nearly everything is nearly a pattern: that is where it changes its way of searching.
it.each([
  ['that hold patterns', written(['a', 'b'], 8, 14), written(['a', 'b'], 0, 900)],
  [
    'of long pieces of patterns that repeat themselves',
    written(['abab', 'aba'], 4, 30),
    written(['abab', 'aba', 'ababababababab', 'c'], 0, 200),
  ],
  ['with signs of two halves', written(['\ud83d', '\ude00', '日'], 8, 12), written(['\ud83d', '\ude00', '日'], 0, 400)],
])('it finds the same as a slow search would, in texts %s', (_, pattern, text) => {
  fc.assert(
    fc.property(fc.uniqueArray(pattern, { minLength: 1, maxLength: 12 }), text, (patterns, given) => {
      const search = searchOf(patterns)
      expect(search.find(given)).toEqual(findSlowly(patterns, given))
      expect(search.openEnd(given)).toBe(openEndSlowly(patterns, given))
    }),
    { numRuns: 400 },
  )
})

it('finds what is there by now, however hard the text was before', () => {
  const hard = 'ab'.repeat(5_000)
  const search = searchOf([`${'ab'.repeat(500)}c`])
  expect(search.find(hard)).toEqual([])
  expect(search.openEnd(hard)).toBe(1_000)
  search.add('abababab', 'short')
  expect(search.find(hard)).toHaveLength(1_250)
  search.remove('abababab')
  expect(search.find(hard)).toEqual([])
  search.remove(`${'ab'.repeat(500)}c`)
  expect(search.openEnd(hard)).toBe(0)
})
