import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inFolder, inFolderOf, isThere, openDirectory } from './directory-handle.ts'
import { inFolderBelow, inMadeFolder, makeFolders } from './make-folders.ts'
import { readRegularAt } from './read-file.ts'
import { writeNew } from './write-new.ts'

let base: string
let root: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pawl-folders-'))
  root = join(base, 'root')
  mkdirSync(join(base, 'outside/deep'), { recursive: true })
  mkdirSync(join(root, 'there'), { recursive: true })
  symlinkSync(join(base, 'outside'), join(root, 'link'))
  writeFileSync(join(root, 'file'), 'text')
  writeFileSync(join(base, 'outside/secret'), 'secret')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

describe('folders on the way to a path', () => {
  test('are made where they are missing, and belong to whom the one above belongs', async () => {
    await (await makeFolders(root, 'there/a/b')).close()
    await (await makeFolders(root, './there//a/')).close()
    expect(statSync(join(root, 'there/a/b')).mode & 0o777).toBe(0o755)
    const { uid, gid } = statSync(join(root, 'there'))
    expect(statSync(join(root, 'there/a/b'))).toMatchObject({ uid, gid })
  })

  test('are never made behind a link or in the place of a file', async () => {
    await expect(makeFolders(root, 'link/new')).rejects.toThrow('link in link/new is no folder')
    await expect(makeFolders(root, 'file/new')).rejects.toThrow('file in file/new is no folder')
    await expect(makeFolders(join(root, 'link'), 'new')).rejects.toThrow(/is gone/)
    expect(readdirSync(join(base, 'outside')).toSorted()).toEqual(['deep', 'secret'])
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true)
  })

  test('are made below an open folder, or only followed', async () => {
    const folder = (await openDirectory(root))!
    const isFound = async (found: unknown) => found !== undefined
    expect(await inFolderBelow(folder, 'there/a', isFound)).toBe(false)
    expect(await inMadeFolder(folder, 'there/a', isFound)).toBe(true)
    expect(await inFolderBelow(folder, 'there/a', isFound)).toBe(true)
    expect(await inFolderBelow(folder, '.', isFound)).toBe(true)
    expect(await inMadeFolder(folder, 'link/deep', isFound)).toBe(false)
    expect(await inFolderBelow(folder, 'link/deep', isFound)).toBe(false)
    await folder.close()
  })
})

test('a folder is used by its path only where no link leads to it, and so is a file in it', async () => {
  expect(await inFolder(join(root, 'there'), () => 'used')).toBe('used')
  expect(await inFolder(join(root, 'link'), () => 'used')).toBeUndefined()
  expect(await inFolder(join(root, 'gone'), () => 'used')).toBeUndefined()
  expect(await inFolderOf(join(root, 'link'), isThere)).toBe(true)
  expect(await inFolderOf(join(root, 'gone'), isThere)).toBe(false)
  expect(await inFolderOf(join(root, 'link/secret'), isThere)).toBeUndefined()
  expect((await readRegularAt(join(root, 'file'), 100))?.toString()).toBe('text')
  expect(await readRegularAt(join(root, 'file'), 3)).toBeUndefined()
  expect(await readRegularAt(join(root, 'link/secret'), 100)).toBeUndefined()
})

test('a new file is made where nothing is, and only there', async () => {
  const put = (name: string) =>
    inFolder(root, (folder) => writeNew(folder, name, Buffer.from('new'), { mode: 0o4640, mtimeMs: 1_000 }))
  await put('made')
  expect(readFileSync(join(root, 'made'), 'utf8')).toBe('new')
  expect([statSync(join(root, 'made')).mode & 0o7777, statSync(join(root, 'made')).mtimeMs]).toEqual([0o640, 1_000])
  for (const name of ['made', 'file', 'link', 'there']) await expect(put(name)).rejects.toMatchObject({ code: 'EEXIST' })
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('text')
})
