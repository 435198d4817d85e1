import { expect, it } from 'vitest'
import type { SubtaskRow } from '../../../store/subtasks.ts'
import { cutWell, resultsOf, titleOf } from './results.ts'

const row = (changes: Partial<SubtaskRow>): SubtaskRow => ({
  ...{ id: 't_1', parent_id: 't_0', name: null, prompt: 'do it', state: 'completed', reason: null },
  result: { outcome: 'succeeded', text: 'done', verified: false, costUsd: null, usage: null },
  ...changes,
})

it('a long text is cut at the end of a paragraph, a line or a word, and says how much is missing', () => {
  expect(cutWell('short', 10)).toBe('short')
  expect(cutWell('one two three\n\nfour five six', 18)).toBe('one two three\n[… 15 more characters]')
  expect(cutWell('one two three four', 14)).toBe('one two three\n[… 5 more characters]')
  expect(cutWell('x'.repeat(20), 10)).toBe(`${'x'.repeat(10)}\n[… 10 more characters]`)
})

it('only what has ended is told, why it failed first, and all of it together stays short', () => {
  const failed = row({ state: 'failed', reason: { kind: 'exit_code', detail: 'It ended with code 3.' } })
  expect(resultsOf([row({ state: 'queued', result: null }), failed])).toEqual([
    { task: 't_1', name: 'do it', state: 'failed', text: 'It ended with code 3.\n\ndone' },
  ])
  const long = row({
    result: { outcome: 'succeeded', text: 'word '.repeat(20_000), verified: false, costUsd: null, usage: null },
  })
  const told = resultsOf(Array.from({ length: 100 }, () => long))
  expect(told.map(({ text }) => text.length).reduce((sum, length) => sum + length)).toBeLessThan(45_000)
})

it('what the machine or the provider said stays with those who work on it', () => {
  const failed = row({ state: 'failed', reason: { kind: 'sandbox_error', detail: 'no room in /srv/pawl' }, result: null })
  expect(resultsOf([failed])[0]?.text).toBe('The sandbox around the agent could not be built.')
})

it('a subtask without a name is called by how its prompt begins', () => {
  expect(titleOf(row({ name: 'mine' }))).toBe('mine')
  expect(titleOf(row({ prompt: `${'a'.repeat(100)}\nrest` }))).toBe(`${'a'.repeat(79)}…`)
})
