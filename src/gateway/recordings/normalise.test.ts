import { expect, it } from 'vitest'
import { normaliser } from './normalise.ts'

it.each([
  ['a name that Codex gives to an output', 'Chunk ID: 689513\nWall time', 'Chunk ID: 7c2a0f\nWall time'],
  ['a commit', '[main 689a513] first', '[main 1f2e3d4] first'],
  ['a place', 'in /work/a/b', 'in /home/c/b'],
])('takes %s for the same in both runs', (_, one, other) => {
  const clean = normaliser([
    { path: '/work/a', as: 'workspace' },
    { path: '/home/c', as: 'workspace' },
  ])
  expect(clean(one)).toBe(clean(other))
})

it('keeps numbers that mean something', () => {
  expect(normaliser([])('689513 files')).toBe('689513 files')
})

it('a request of 200,000 slashes is read at once', () => {
  const startedAt = performance.now()
  normaliser([])('/@'.repeat(100_000))
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})
