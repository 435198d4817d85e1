import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readHomeFile, removeHomeFile, writeHomeFile, writeHomeFiles } from './home-files.ts'

describe('files of ours in a session home', () => {
  let base: string
  let home: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'pawl-home-files-'))
    home = join(base, 'home')
    mkdirSync(home)
    writeFileSync(join(base, 'secret'), 'keep me')
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  test('are written with their folders, closed to others, and replace what was there', async () => {
    await writeHomeFile({ home, path: 'a/b/c.txt' }, 'one', { user: undefined })
    await writeHomeFile({ home, path: 'a/b/c.txt' }, 'two', { user: undefined, mode: 0o700 })
    expect(readFileSync(join(home, 'a/b/c.txt'), 'utf8')).toBe('two')
    expect(statSync(join(home, 'a/b/c.txt')).mode & 0o777).toBe(0o700)
    expect(statSync(join(home, 'a')).mode & 0o777).toBe(0o700)
  })

  test('for a first start are left as they are by every other, also where the agent put something else', async () => {
    const firstFiles = { 'a/one': '1', 'a/two': '2', three: '3' }
    await writeHomeFiles(home, { files: { 'a/x': 'x' }, firstFiles: { 'a/one': '1' } }, { user: undefined })
    writeFileSync(join(home, 'a/one'), 'changed')
    symlinkSync(join(base, 'nowhere'), join(home, 'three'))
    await writeHomeFiles(home, { files: { 'a/x': 'y' }, firstFiles }, { user: undefined })
    expect(['a/x', 'a/one', 'a/two'].map((path) => readFileSync(join(home, path), 'utf8'))).toEqual(['y', 'changed', '2'])
    expect(lstatSync(join(home, 'three')).isSymbolicLink()).toBe(true)
  })

  test('never go through a link that the agent left, as a file or as a folder', async () => {
    symlinkSync(join(base, 'secret'), join(home, 'file'))
    mkdirSync(join(base, 'outside'))
    symlinkSync(join(base, 'outside'), join(home, 'folder'))
    await writeHomeFile({ home, path: 'file' }, 'new', { user: undefined })
    await writeHomeFile({ home, path: 'folder/file' }, 'new', { user: undefined })
    expect(readFileSync(join(base, 'secret'), 'utf8')).toBe('keep me')
    expect(readFileSync(join(home, 'folder/file'), 'utf8')).toBe('new')
    expect(statSync(join(base, 'outside/file'), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('are not read through a link, nor when they are too large or no file', async () => {
    symlinkSync(join(base, 'secret'), join(home, 'link'))
    mkdirSync(join(home, 'folder'))
    writeFileSync(join(home, 'large'), 'x'.repeat(100))
    expect(await readHomeFile({ home, path: 'link' }, 1000)).toBeUndefined()
    expect(await readHomeFile({ home, path: 'folder' }, 1000)).toBeUndefined()
    expect(await readHomeFile({ home, path: 'large' }, 99)).toBeUndefined()
    expect(await readHomeFile({ home, path: 'large' }, 100)).toBe('x'.repeat(100))
    expect(await readHomeFile({ home, path: 'no/such/file' }, 100)).toBeUndefined()
  })

  test('take the place of a folder with their name', async () => {
    mkdirSync(join(home, 'name/full'), { recursive: true })
    await writeHomeFile({ home, path: 'name' }, 'now a file', { user: undefined })
    expect(readFileSync(join(home, 'name'), 'utf8')).toBe('now a file')
  })

  test('are removed without following, and removing what is not there is fine', async () => {
    symlinkSync(join(base, 'secret'), join(home, 'link'))
    await removeHomeFile({ home, path: 'link' })
    await removeHomeFile({ home, path: 'no/such' })
    expect(readFileSync(join(base, 'secret'), 'utf8')).toBe('keep me')
  })

  test('cannot be named outside the home', async () => {
    for (const path of ['../x', '/x', 'a/../../x', '..', '.'])
      await expect(writeHomeFile({ home, path }, 'x', { user: undefined })).rejects.toThrow(/not a path inside a home/)
  })
})
