import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRedactor } from '../../redact/redactor.ts'
import { treeHash } from '../workspace/tree-hash.ts'
import { makeRecordingFolder, recordingFolder, removeRecordingFiles } from './folder.ts'
import { keepTree } from './keep-tree.ts'
import { layTree } from './lay-tree.ts'

let [home, workspace] = ['', '']
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'pawl-recordings-'))
  workspace = join(home, 'the workspace')
  await mkdir(join(workspace, 'src/deep'), { recursive: true })
  await writeFile(join(workspace, 'src/deep/a.txt'), 'a\n')
  await writeFile(join(workspace, 'copy-of-a.txt'), 'a\n')
  await writeFile(join(workspace, 'run.sh'), '#!/bin/sh\n')
  await chmod(join(workspace, 'run.sh'), 0o755)
  await symlink('src/deep/a.txt', join(workspace, 'link'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const options = () => ({
  redactor: createRedactor(),
  maxBytes: 1_000_000,
  without: '/nowhere',
  signal: new AbortController().signal,
})
const keep = (run: string, changes = {}) => keepTree(workspace, makeRecordingFolder(home, run), { ...options(), ...changes })

test('a workspace that was kept is laid out again with the same contents, modes, times and links', async () => {
  utimesSync(join(workspace, 'src/deep'), 1_000_000, 1_000_000)
  const kept = await keep('r_1')
  expect(kept).toMatchObject({ files: 3, bytes: 14 })
  await writeFile(join(workspace, 'run.sh'), 'something else')
  const to = mkdtempSync(join(home, 'again-'))
  await layTree(kept.entries, { files: recordingFolder(home, 'r_1').files, to, user: undefined })
  expect(readFileSync(join(to, 'run.sh'), 'utf8')).toBe('#!/bin/sh\n')
  expect(statSync(join(to, 'run.sh')).mode & 0o777).toBe(0o755)
  expect(statSync(join(to, 'src/deep')).mtimeMs).toBe(1_000_000_000)
  expect(readFileSync(join(to, 'link'), 'utf8')).toBe('a\n')
  await writeFile(join(workspace, 'run.sh'), '#!/bin/sh\n')
  expect((await treeHash(to)).hash).toBe((await treeHash(workspace)).hash)
})

test('the same content is on disk once for all recordings, and stays as long as one of them has it', async () => {
  await keep('r_1')
  const { entries } = await keep('r_2')
  const a = entries.find(({ path }) => path === 'copy-of-a.txt')!.sha256!
  const { shared, files } = recordingFolder(home, 'r_2')
  expect(readdirSync(shared)).toHaveLength(2)
  expect(statSync(join(shared, a)).nlink).toBe(3)
  removeRecordingFiles(home, ['r_1'])
  expect(readFileSync(join(files, a), 'utf8')).toBe('a\n')
  removeRecordingFiles(home, ['r_2', 'r_never'])
  expect(readdirSync(shared)).toEqual([])
  expect(existsSync(files)).toBe(false)
})

test('a link that leads out of the workspace is kept as a link, and what it leads to is not read', async () => {
  await writeFile(join(home, 'outside.txt'), 'not yours')
  await symlink(join(home, 'outside.txt'), join(workspace, 'out'))
  await symlink(home, join(workspace, 'out-folder'))
  const { entries } = await keep('r_1')
  expect(entries.filter(({ path }) => path.startsWith('out')).map(({ kind }) => kind)).toEqual(['link', 'link'])
  const { files } = recordingFolder(home, 'r_1')
  expect(readdirSync(files).map((name) => readFileSync(join(files, name), 'utf8'))).not.toContain('not yours')
})

test('a workspace that is too large is not kept, and says why', async () => {
  await writeFile(join(workspace, 'large'), Buffer.alloc(2_000_000))
  expect(await keep('r_1')).toEqual({
    files: 0,
    bytes: 0,
    entries: [],
    leftOut: 'the workspace has more than 1 MB (recordings.maxMb)',
  })
})

test('a secret that is known is hidden in the files that are kept', async () => {
  const redactor = createRedactor()
  redactor.add('MY_KEY', 'correct-horse-battery-staple')
  await writeFile(join(workspace, '.env'), 'MY_KEY=correct-horse-battery-staple\n')
  const { entries } = await keep('r_1', { redactor })
  const { sha256 } = entries.find(({ path }) => path === '.env')!
  expect(readFileSync(join(recordingFolder(home, 'r_1').files, sha256!), 'utf8')).toBe('MY_KEY=[redacted:MY_KEY]\n')
})

test('what has a secret in its name, or leads to one, is left out', async () => {
  const redactor = createRedactor()
  redactor.add('KEY', 'correct horse 7')
  await mkdir(join(workspace, 'a correct horse 7'))
  await writeFile(join(workspace, 'a correct horse 7/file'), 'x')
  await writeFile(join(workspace, 'src/correct horse 7.txt'), 'x')
  await symlink('/secrets/correct horse 7', join(workspace, 'told'))
  const { entries } = await keep('r_1', { redactor })
  expect(JSON.stringify(entries)).not.toContain('horse')
  expect(entries.map(({ path }) => path).sort()).toEqual(['copy-of-a.txt', 'link', 'run.sh', 'src', 'src/deep', 'src/deep/a.txt'])
})
