import { expect, test } from 'vitest'
import { differenceOf } from './difference.ts'
import { redactPatch } from './redact-patch.ts'
import type { Picture } from './snapshot.ts'

const picture = (more: Partial<Picture> = {}): Picture => ({ tree: 'x', large: {}, nested: [], ...more })
const nothing = { list: undefined, patch: undefined, redact: (text: string) => text }

test('what git wrote is read as it stands: renamed, binary, retyped, with names of any kind', () => {
  const list = [
    ':100644 100644 a b R090',
    'old',
    'new\nname',
    ':100644 120000 a b T',
    'link',
    ':000000 100644 a b A',
    'blob',
    '3\t1\t',
    'old',
    'new\nname',
    '1\t2\tlink',
    '-\t-\tblob',
    '',
  ].join('\0')
  const patch = ['diff --git 1\n+diff --git not a head\n', 'diff --git 2a\n', 'diff --git 2b\n', 'diff --git 3\n'].join('')
  const kept = { ...nothing, list: Buffer.from(list), patch: Buffer.from(patch) }
  const { files, patches } = differenceOf(picture(), picture(), kept)
  expect(files).toEqual([
    { path: 'blob', from: null, status: 'added', added: null, removed: null, binary: true, patch: 'whole' },
    { path: 'link', from: null, status: 'retyped', added: 1, removed: 2, binary: false, patch: 'whole' },
    { path: 'new\nname', from: 'old', status: 'renamed', added: 3, removed: 1, binary: false, patch: 'whole' },
  ])
  expect(patches).toEqual(['diff --git 3\n', 'diff --git 2a\ndiff --git 2b\n', 'diff --git 1\n+diff --git not a head\n'])
})

test('large files are told by their size and times, and repositories inside by their names', () => {
  const before = picture({ large: { same: '1', grown: '1', gone: '1' }, nested: ['inner'] })
  const after = picture({ large: { same: '1', grown: '2', fresh: '1' } })
  const { files, why } = differenceOf(before, after, nothing)
  expect(files.map(({ status, path, patch }) => [status, path, patch])).toEqual([
    ['added', 'fresh', 'none'],
    ['deleted', 'gone', 'none'],
    ['modified', 'grown', 'none'],
  ])
  expect(why).toBe('Not looked into, because they are repositories of their own: inner.')
})

test('names beyond the cap are counted and not kept', () => {
  const list =
    Array.from({ length: 5 }, (_, at) => `:000000 100644 a b A\0f${at}\0`).join('') +
    Array.from({ length: 5 }, (_, at) => `2\t0\tf${at}\0`).join('')
  const limits = { files: 3, patchBytes: 100, filePatchBytes: 100 }
  const found = differenceOf(picture(), picture(), { ...nothing, list: Buffer.from(list) }, limits)
  expect(found).toMatchObject({ fileCount: 5, added: 10 })
  expect(found.files).toHaveLength(3)
  expect(found.why).toContain('Only the first 3 of 5 files are named.')
})

test('a secret of several lines is found behind the signs of a difference', () => {
  const redact = (text: string) => text.replace('one\ntwo', '[secret]')
  expect(redactPatch('@@ -1 +1 @@\n-one\n-two\n+one\n two\n', redact)).toBe('@@ -1 +1 @@\n-[secret]\n+one\n two\n')
})
