import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectory } from '../../sandbox/files/directory-handle.ts'
import { copyWorkspace, type WorkspaceCopy } from './copy.ts'

describe('bringing back', () => {
  let root: string
  let original: string
  let outside: string
  let copy: WorkspaceCopy
  const mine = (path: string, text: string) => writeFile(join(original, path), text)
  const agents = (path: string, text: string) => writeFile(join(copy.path, path), text)
  const text = (path: string) => readFile(join(original, path), 'utf8')
  const outsideNames = () => readdir(outside)

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pawl-back-'))
    original = join(root, 'original')
    outside = join(root, 'outside')
    await mkdir(join(original, 'd/deep'), { recursive: true })
    await mkdir(outside)
    for (const name of ['a', 'deep-file']) await writeFile(join(outside, name), 'theirs')
    await mkdir(join(outside, 'deep'))
    for (const name of ['a', 'b', 'deep/c']) await writeFile(join(original, 'd', name), name)
    await writeFile(join(original, 'z.txt'), 'z')
    copy = await copyWorkspace({
      original,
      folder: join(root, 'copies'),
      task: 'task',
      fence: 1,
      owner: { uid: process.getuid!(), gid: process.getgid!() },
      without: join(original, 'home'),
      paths: [],
      signal: new AbortController().signal,
    })
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  const replaceByLink = async (target: string) => {
    await rm(join(copy.path, 'd'), { recursive: true })
    await symlink(target, join(copy.path, 'd'))
  }

  it('removes nothing through a link that the agent put in the place of a directory', async () => {
    // The same names, sizes and times as in the base: only the way there differs.
    await rm(outside, { recursive: true })
    execFileSync('cp', ['-a', join(original, 'd'), outside])
    await replaceByLink(outside)
    const changes = await copy.bringBack()
    expect(await readlink(join(original, 'd'))).toBe(outside)
    expect((await outsideNames()).toSorted()).toEqual(['a', 'b', 'deep'])
    expect(await readdir(join(outside, 'deep'))).toEqual(['c'])
    expect(changes).toMatchObject({ added: ['d'], conflicts: [], failed: [] })
    expect(changes.removed.toSorted()).toEqual(['d/a', 'd/b', 'd/deep/c'])
  })

  it("keeps a directory with an owner's new file in it, and makes no link there", async () => {
    await mine('d/new', 'mine')
    await replaceByLink(outside)
    await agents('z.txt', 'zz')
    const changes = await copy.bringBack()
    expect(changes.conflicts).toEqual(['d'])
    expect((await lstat(join(original, 'd'))).isDirectory()).toBe(true)
    expect(await text('d/new')).toBe('mine')
    expect(await text('z.txt')).toBe('zz')
    expect((await outsideNames()).toSorted()).toEqual(['a', 'deep', 'deep-file'])
  })

  it("keeps a directory with an owner's changed file in it, and tells one conflict", async () => {
    await mine('d/deep/c', 'changed by the owner')
    await replaceByLink(outside)
    expect((await copy.bringBack()).conflicts).toEqual(['d'])
    expect(await text('d/deep/c')).toBe('changed by the owner')
  })

  it('writes and removes nothing through a link that the owner put in the place of a directory', async () => {
    await rename(join(original, 'd'), join(root, 'moved'))
    await symlink(outside, join(original, 'd'))
    await agents('d/a', "the agent's")
    await agents('d/new', "the agent's")
    await rm(join(copy.path, 'd/deep'), { recursive: true })
    await agents('z.txt', 'zz')
    const changes = await copy.bringBack()
    expect(changes).toMatchObject({ changed: ['z.txt'], added: [], removed: [], failed: [] })
    expect(changes.conflicts.toSorted()).toEqual(['d/a', 'd/new'])
    expect((await outsideNames()).toSorted()).toEqual(['a', 'deep', 'deep-file'])
    expect(await readFile(join(outside, 'a'), 'utf8')).toBe('theirs')
  })

  it('brings everything else back when one path is in conflict, whatever lies below it', async () => {
    await mkdir(join(copy.path, 'n/below'), { recursive: true })
    for (const name of ['n/one', 'n/below/two', 'other', 'd/b']) await agents(name, 'new')
    await mine('n', 'a file of the owner')
    const changes = await copy.bringBack()
    expect(changes).toMatchObject({ conflicts: ['n'], added: ['other'], changed: ['d/b'], failed: [] })
    expect(await text('n')).toBe('a file of the owner')
    expect(await text('other')).toBe('new')
    expect(await text('d/b')).toBe('new')
  })

  it('brings the rest back when the system refuses one file, and says why', async () => {
    for (const name of ['d/new', 'other']) await agents(name, 'new')
    const { temporaryName } = JSON.parse(await readFile(join(root, 'copies/task.1.copy/base.json'), 'utf8'))
    await mkdir(join(original, 'd', temporaryName))
    const changes = await copy.bringBack()
    expect(changes.failed).toMatchObject([{ path: 'd/new' }])
    expect(changes.failed[0]?.why).not.toBe('')
    expect(await text('other')).toBe('new')
  })

  it('keeps a directory that the agent replaced by a pipe', async () => {
    await rm(join(copy.path, 'd'), { recursive: true })
    execFileSync('mkfifo', [join(copy.path, 'd')])
    expect(await copy.bringBack()).toMatchObject({ refused: ['d'], removed: [], conflicts: [] })
    expect((await readdir(join(original, 'd'))).toSorted()).toEqual(['a', 'b', 'deep'])
  })

  it('turns a file into a directory, and a directory into a file', async () => {
    await rm(join(copy.path, 'z.txt'))
    await mkdir(join(copy.path, 'z.txt'))
    await agents('z.txt/inside', 'new')
    await rm(join(copy.path, 'd'), { recursive: true })
    await agents('d', 'now a file')
    expect(await copy.bringBack()).toMatchObject({ conflicts: [], failed: [] })
    expect(await text('z.txt/inside')).toBe('new')
    expect(await text('d')).toBe('now a file')
  })

  it('never puts anything where our own home is', async () => {
    await mkdir(join(copy.path, 'home'))
    await agents('home/settings', 'theirs')
    expect((await copy.bringBack()).refused).toEqual(['home'])
    await expect(lstat(join(original, 'home'))).rejects.toThrow('ENOENT')
  })

  it('changes the mode of a directory unless the owner did', async () => {
    await chmod(join(copy.path, 'd'), 0o700)
    await chmod(join(copy.path, 'd/deep'), 0o700)
    await chmod(join(original, 'd/deep'), 0o711)
    await copy.bringBack()
    expect((await stat(join(original, 'd'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(original, 'd/deep'))).mode & 0o777).toBe(0o711)
  })

  it('leaves names that are not text behind, and brings the rest', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${copy.path}/`), Buffer.from([0xff, 0xfe])]), 'x')
    await agents('other', 'new')
    expect(await copy.bringBack()).toMatchObject({ added: ['other'], failed: [] })
  })
})

describe('a directory handle', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pawl-handle-'))
    await mkdir(join(root, 'real/sub'), { recursive: true })
    await mkdir(join(root, 'outside/sub'), { recursive: true })
    await symlink(join(root, 'outside'), join(root, 'link'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  it('is not given for a path with a link, a file or nothing in it', async () => {
    await writeFile(join(root, 'file'), '')
    for (const path of ['link', 'link/sub', 'file', 'file/x', 'missing/x'])
      expect(await openDirectory(join(root, path))).toBeUndefined()
  })

  it.runIf(process.platform === 'linux')('stays with its directory when the path is swapped for a link', async () => {
    const handle = await openDirectory(join(root, 'real/sub'))
    await rename(join(root, 'real'), join(root, 'moved'))
    await symlink(join(root, 'outside'), join(root, 'real'))
    await writeFile(handle!.at('written'), 'here')
    await handle!.close()
    expect(await readFile(join(root, 'moved/sub/written'), 'utf8')).toBe('here')
    expect(await readdir(join(root, 'outside/sub'))).toEqual([])
  })
})
