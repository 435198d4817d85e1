import { expect, test } from 'vitest'
import { CustomOptions } from './options.ts'
import { matchesIn } from './pattern.ts'
import { createIdFinder } from './session-id.ts'

const hopeless = '^(a+)+(b)$'
const bait = `${'a'.repeat(2_000)}!`

test('a pattern finds its groups in each text', () => {
  expect(matchesIn('id: (\\S+)', ['nothing', 'the ID: s-1 here'])).toEqual([[], ['ID: s-1', 's-1']])
})

test('a pattern that backtracks elsewhere takes a moment here', () => {
  const began = performance.now()
  expect(matchesIn(hopeless, [bait])).toEqual([[]])
  const finder = createIdFinder({ pattern: hopeless, stream: 'stdout', at: 'start' })
  for (let line = 0; line < 50; line++) finder.push(Buffer.from(`${bait}\n`))
  finder.end()
  expect(finder.found()).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(1_000)
})

test('settings whose pattern cannot be matched in linear time are refused, with the pattern', () => {
  const read = (pattern: string) => CustomOptions.safeParse({ command: ['x'], sessionId: { pattern, stream: 'stdout' } })
  expect(read('id: (\\S+)').success).toBe(true)
  expect(read('(?<=id: )(\\S+)').error?.issues[0]?.message).toMatch(/"\(\?<=id: \)\(.*looks ahead or behind/)
  expect(read('id: (a{900})').error?.issues[0]?.message).toMatch(/too large/)
  expect(read('id: \\S+').error?.issues[0]?.message).toMatch(/one group/)
})

test('the first id of the beginning counts, or the last one of the end', () => {
  const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `id: s-${from + at}\n`).join('')
  const found = (at: 'start' | 'end', text: string) => {
    const finder = createIdFinder({ pattern: '^id: (\\S+)$', stream: 'stdout', at })
    finder.push(Buffer.from(text))
    const early = finder.found()
    finder.end()
    return [early, finder.found()]
  }
  expect(found('start', lines(1, 99))).toEqual(['s-1', 's-1'])
  expect(found('end', lines(1, 99))).toEqual([undefined, 's-99'])
  expect(found('start', `${'noise\n'.repeat(50)}${lines(1, 1)}`)).toEqual([undefined, undefined])
  expect(found('end', `${lines(1, 1)}${'noise\n'.repeat(50)}`)).toEqual([undefined, undefined])
  expect(found('start', 'id: ../x\nid: s-2\n')).toEqual(['s-2', 's-2'])
})
