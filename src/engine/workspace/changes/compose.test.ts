import { expect, test } from 'vitest'
import type { ChangedFile } from '../../../domain/view/changes.ts'
import { composeRuns } from './compose.ts'

const file = (status: ChangedFile['status'], path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  from: null,
  status,
  added: 1,
  removed: 1,
  binary: false,
  patch: 'whole',
  ...more,
})
const told = (...runs: ChangedFile[][]) =>
  composeRuns(runs.map((files, at) => ({ run: `r${at + 1}`, files }))).files.map(
    ({ status, path, from, runs: by }) => `${status} ${from === null ? '' : `${from} -> `}${path} by ${by.join(' ')}`,
  )

test.each([
  ['new and then changed is new', [[file('added', 'a')], [file('modified', 'a')]], ['added a by r1 r2']],
  ['new and then removed is nothing', [[file('added', 'a')], [file('deleted', 'a')]], []],
  ['changed and then removed is removed', [[file('modified', 'a')], [file('deleted', 'a')]], ['deleted a by r1 r2']],
  ['removed and made again is changed', [[file('deleted', 'a')], [file('added', 'a')]], ['modified a by r1 r2']],
  [
    'renamed twice has its first name and its last',
    [[file('renamed', 'b', { from: 'a' })], [file('renamed', 'c', { from: 'b' })]],
    ['renamed a -> c by r1 r2'],
  ],
  ['new and then renamed is new', [[file('added', 'a')], [file('renamed', 'b', { from: 'a' })]], ['added b by r1 r2']],
  ['files of their own stay as they are', [[file('added', 'b')], [file('deleted', 'a')]], ['deleted a by r2', 'added b by r1']],
])('%s', (_, runs, expected) => {
  expect(told(...runs)).toEqual(expected)
})

test('only a file that several runs changed keeps them from being one', () => {
  const once = [{ run: 'r1', files: [file('added', 'a')] }]
  expect(composeRuns(once).isComposed).toBe(true)
  const twice = composeRuns([...once, { run: 'r2', files: [file('modified', 'a', { added: 5, removed: null })] }])
  expect(twice).toMatchObject({ isComposed: false, files: [{ added: 6, removed: 1, runs: ['r1', 'r2'] }] })
})
