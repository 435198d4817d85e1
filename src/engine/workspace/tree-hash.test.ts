import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { git, put, repository } from './testing.ts'
import { treeHash } from './tree-hash.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-tree-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const of = async (root: string) => (await treeHash(root, { git: async (args) => git(root, ...args) })).hash

describe('the hash of a tree', () => {
  it('is the same for the same content, whenever and in whatever order it was written', async () => {
    const [one, other] = [join(folder, 'one'), join(folder, 'other')]
    await put(one, { 'a.txt': 'A', 'b/c.txt': 'C' })
    await put(other, { 'b/c.txt': 'C', 'a.txt': 'A' })
    await mkdir(join(other, 'empty'))
    await utimes(join(other, 'a.txt'), 1, 1)
    await chmod(join(other, 'a.txt'), 0o600)
    expect(await of(other)).toBe(await of(one))
  })

  it('changes with a byte, a name, a link, and with what is executable', async () => {
    await put(folder, { 'a.txt': 'A' })
    const seen = new Set([await of(folder)])
    const changed = async () => {
      const hash = await of(folder)
      expect(seen.has(hash)).toBe(false)
      seen.add(hash)
    }
    await put(folder, { 'a.txt': 'B' })
    await changed()
    await put(folder, { 'b.txt': 'B' })
    await changed()
    await chmod(join(folder, 'b.txt'), 0o755)
    await changed()
    await symlink('a.txt', join(folder, 'link'))
    await changed()
    await rm(join(folder, 'link'))
    await symlink('b.txt', join(folder, 'link'))
    await changed()
    await rm(join(folder, 'link'))
    await put(folder, { link: 'b.txt' })
    await changed()
  })

  it('follows no link, however it is made', async () => {
    const [root, outside] = [join(folder, 'root'), join(folder, 'outside')]
    await put(outside, { 'secret.txt': 'one' })
    await mkdir(root)
    await symlink(outside, join(root, 'folder'))
    await symlink(join(outside, 'secret.txt'), join(root, 'file'))
    const before = await treeHash(root)
    await put(outside, { 'secret.txt': 'two' })
    expect(await treeHash(root)).toEqual(before)
    expect(before.files).toBe(2)
  })

  it('leaves out what a repository ignores and what belongs to git, but never a file of ignore rules', async () => {
    await repository(folder, { '.gitignore': 'build/\n*.log\n', 'a.ts': 'A', 'ümläut/b.ts': 'B' })
    const before = await of(folder)
    await put(folder, { 'build/out.js': 'x', 'deep/test.log': 'x', 'ümläut/x.log': 'x' })
    git(folder, 'tag', 'one')
    expect(await of(folder)).toBe(before)
    await put(folder, { '.git/info/exclude': 'hidden.ts\n', 'hidden.ts': 'x' })
    const hidden = await of(folder)
    expect(hidden).not.toBe(before)
    await rm(join(folder, 'hidden.ts'))
    expect(await of(folder)).toBe(before)
    // A rule that hides itself and a file is seen all the same.
    await put(folder, { 'ümläut/.gitignore': '.gitignore\nhidden.ts\n', 'ümläut/hidden.ts': 'x' })
    expect(await of(folder)).not.toBe(before)
  })

  it('counts what is tracked although it is ignored', async () => {
    await repository(folder, { 'kept.log': 'one' })
    await put(folder, { '.gitignore': '*.log\n' })
    const before = await of(folder)
    await put(folder, { 'kept.log': 'two' })
    expect(await of(folder)).not.toBe(before)
  })

  it('counts everything where there is no repository, and tells names apart that are no text', async () => {
    await put(folder, { '.gitignore': '*.log\n', 'a.log': 'x' })
    expect(await treeHash(folder)).toMatchObject({ files: 2 })
    const odd = (byte: number) => Buffer.concat([Buffer.from(`${folder}/x`), Buffer.from([byte])])
    await writeFile(odd(0xfe), '')
    const one = await of(folder)
    await rm(odd(0xfe) as unknown as string)
    await writeFile(odd(0xff), '')
    expect(await of(folder)).not.toBe(one)
  })

  it('says so where the tree is too large, instead of taking for ever', async () => {
    await put(folder, { a: '1', b: '2', c: '3' })
    const limits = { files: 2, bytes: 1_000, ms: 60_000 }
    expect(await treeHash(folder, { limits })).toMatchObject({
      hash: null,
      why: 'The workspace is too large to be hashed: there are more than 2 files.',
    })
    await put(folder, { a: 'x'.repeat(2_000) })
    expect(await treeHash(folder, { limits: { ...limits, files: 9 } })).toMatchObject({
      hash: null,
      why: expect.stringContaining('1000 bytes'),
    })
    await mkdir(join(folder, 'empty/inner'), { recursive: true })
    expect(await treeHash(join(folder, 'empty'), { limits: { ...limits, ms: -1 } })).toMatchObject({ hash: null })
    await expect(treeHash(folder, { signal: AbortSignal.abort() })).rejects.toThrow()
  })

  it('reads a large file in pieces', async () => {
    await writeFile(join(folder, 'large'), Buffer.alloc(3_000_001, 7))
    const before = await treeHash(folder)
    expect(before.bytes).toBe(3_000_001)
    await writeFile(join(folder, 'large'), Buffer.alloc(3_000_001, 7).fill(8, 3_000_000))
    expect((await treeHash(folder)).hash).not.toBe(before.hash)
  })
})
