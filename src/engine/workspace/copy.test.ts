import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import { type CopyPlan, copyWorkspace } from './copy.ts'
import { copyTree } from './copy-tree.ts'
import { placeAt } from './same-place.ts'
import { git, guard, put, repository, testPaths } from './testing.ts'

describe('a workspace copy', () => {
  let root: string
  let original: string
  const owner = { uid: process.getuid!(), gid: process.getgid!() }
  const make = (fence = 1, signal = new AbortController().signal, more: Partial<CopyPlan> = {}) =>
    copyWorkspace({
      ...more,
      original,
      folder: join(root, 'copies'),
      task: 'task',
      fence,
      owner,
      without: join(original, 'sub/home'),
      paths: testPaths,
      signal,
    })
  const text = (path: string) => readFile(join(original, path), 'utf8')

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pawl-copy-'))
    original = join(root, 'original')
    await mkdir(join(original, 'sub/deep'), { recursive: true })
    await writeFile(join(original, 'keep.txt'), 'keep')
    await writeFile(join(original, 'change.txt'), 'before')
    await writeFile(join(original, 'sub/deep/remove.txt'), 'gone')
    await symlink('keep.txt', join(original, 'link'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  it('brings back new, changed and removed files, modes, links and binary content', async () => {
    const copy = await make()
    const bytes = Buffer.from([0, 255, 10, 0, 200])
    await writeFile(join(copy.path, 'new.bin'), bytes)
    await chmod(join(copy.path, 'new.bin'), 0o755)
    await writeFile(join(copy.path, 'change.txt'), 'after')
    await rm(join(copy.path, 'sub'), { recursive: true })
    await rm(join(copy.path, 'link'))
    await symlink('/nowhere/else', join(copy.path, 'link'))
    const changes = await copy.bringBack()
    expect(changes.conflicts).toEqual([])
    expect(await readFile(join(original, 'new.bin'))).toEqual(bytes)
    expect((await lstat(join(original, 'new.bin'))).mode & 0o777).toBe(0o755)
    expect(await text('change.txt')).toBe('after')
    expect(await text('keep.txt')).toBe('keep')
    expect(await readlink(join(original, 'link'))).toBe('/nowhere/else')
    await expect(lstat(join(original, 'sub'))).rejects.toThrow('ENOENT')
  })

  it('leaves no process behind when it is aborted, also none that its sandbox had started', async () => {
    const pidFile = join(root, 'pid')
    const patience = { timeout: 20_000 }
    const aborting = new AbortController()
    const confine = async () => ['sh', '-c', 'sleep 300 & echo $! > "$0"; wait', pidFile]
    const copying = copyTree(original, join(root, 'copy'), {
      without: join(original, 'sub/home'),
      signal: aborting.signal,
      confine,
    })
    const failed = expect(copying).rejects.toThrow('aborted')
    const pid = await vi.waitFor(async () => {
      const written = Number(await readFile(pidFile, 'utf8'))
      expect(written).toBeGreaterThan(0)
      return written
    }, patience)
    aborting.abort()
    await failed
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), patience)
  })

  it('leaves out our own home when it lies inside, and does not take its absence for a removal', async () => {
    await mkdir(join(original, 'sub/home'))
    await writeFile(join(original, 'sub/home/store'), 'ours')
    const copy = await make()
    expect(await readdir(join(copy.path, 'sub/home'))).toEqual([])
    expect(await readFile(join(copy.path, 'sub/deep/remove.txt'), 'utf8')).toBe('gone')
    expect(await copy.bringBack()).toMatchObject({ added: [], changed: [], removed: [], conflicts: [] })
    expect(await text('sub/home/store')).toBe('ours')
  })

  it('leaves out folders that nobody reads, and neither removes them nor writes over what lies there', async () => {
    await put(original, { 'node_modules/a/index.js': 'a', 'sub/deep/node_modules/b.js': 'b', 'sub/near.txt': 'near' })
    await symlink('../node_modules', join(original, 'sub/node_modules'))
    const copy = await make(1, undefined, { unread: ['node_modules'] })
    expect((await readdir(copy.path)).toSorted()).toEqual(['change.txt', 'keep.txt', 'link', 'sub'])
    expect(await readlink(join(copy.path, 'sub/node_modules'))).toBe('../node_modules')
    await put(copy.path, { 'node_modules/a/index.js': "the agent's", 'node_modules/c.js': 'c', 'sub/near.txt': 'changed' })
    await rm(join(copy.path, 'sub/deep'), { recursive: true })
    expect(await copy.bringBack()).toMatchObject({
      added: ['node_modules/c.js'],
      changed: ['sub/near.txt'],
      removed: ['sub/deep/remove.txt'],
      conflicts: ['node_modules/a/index.js', 'sub/deep'],
    })
    expect(await text('node_modules/a/index.js')).toBe('a')
    expect(await text('sub/deep/node_modules/b.js')).toBe('b')
  })

  it('tells how far it has come while it takes long', async () => {
    const told: number[] = []
    await make(1, undefined, { onProgress: (entries) => told.push(entries), toldEveryMs: 0 })
    // Two files and a link, and a folder with a file; not the two folders around our home.
    expect(told.at(-1)).toBe(5)
  })

  it('says what stood in its way', async () => {
    const missing = join(root, 'missing')
    await expect(copyTree(missing, join(root, 'to'), { without: root, signal: new AbortController().signal })).rejects.toThrow(
      'No such file or directory',
    )
  })

  it('sees a change that keeps size and time', async () => {
    const copy = await make()
    const { atime, mtime } = await lstat(join(copy.path, 'change.txt'))
    await writeFile(join(copy.path, 'change.txt'), 'BEFORE')
    await utimes(join(copy.path, 'change.txt'), atime, mtime)
    expect((await copy.bringBack()).changed).toEqual(['change.txt'])
    expect(await text('change.txt')).toBe('BEFORE')
  })

  it('never overwrites what the owner changed meanwhile', async () => {
    const copy = await make()
    await writeFile(join(copy.path, 'change.txt'), "the agent's")
    await rm(join(copy.path, 'keep.txt'))
    await writeFile(join(original, 'change.txt'), "the owner's")
    await writeFile(join(original, 'keep.txt'), 'kept and changed')
    await writeFile(join(original, 'sub/mine.txt'), 'mine')
    await rm(join(copy.path, 'sub'), { recursive: true })
    const changes = await copy.bringBack()
    expect(changes.conflicts.toSorted()).toEqual(['change.txt', 'keep.txt', 'sub'])
    expect(await text('change.txt')).toBe("the owner's")
    expect(await text('keep.txt')).toBe('kept and changed')
    expect(await text('sub/mine.txt')).toBe('mine')
  })

  it('does not write through a link the agent put in the place of a directory', async () => {
    await mkdir(join(root, 'outside'))
    const copy = await make()
    await rm(join(copy.path, 'sub'), { recursive: true })
    await symlink(join(root, 'outside'), join(copy.path, 'sub'))
    await copy.bringBack()
    expect(await readlink(join(original, 'sub'))).toBe(join(root, 'outside'))
    await expect(lstat(join(root, 'outside/deep'))).rejects.toThrow('ENOENT')
  })

  it('leaves pipes behind and strips the set-user-id bit', async () => {
    const copy = await make()
    execFileSync('mkfifo', [join(copy.path, 'pipe')])
    await writeFile(join(copy.path, 'tool'), '#!/bin/sh\n')
    await chmod(join(copy.path, 'tool'), 0o4755)
    expect((await copy.bringBack()).refused).toEqual(['pipe'])
    expect((await lstat(join(original, 'tool'))).mode & 0o7777).toBe(0o755)
  })

  it('goes on with a complete copy that an earlier run left behind, and makes a half one anew', async () => {
    const first = await make(1)
    await writeFile(join(first.path, 'work.txt'), 'not brought back yet')
    const second = await make(2)
    expect(await readFile(join(second.path, 'work.txt'), 'utf8')).toBe('not brought back yet')
    expect(await text('work.txt')).toBe('not brought back yet')
    expect(await readdir(join(root, 'copies'))).toEqual(['task.2.copy'])
    await rm(join(root, 'copies/task.2.copy/base.json'))
    await rm(join(original, 'work.txt'))
    const third = await make(3)
    await expect(lstat(join(third.path, 'work.txt'))).rejects.toThrow('ENOENT')
    expect(await readdir(join(root, 'copies'))).toEqual(['task.3.copy'])
  })

  it('brings back nothing that a run which died has planted', async () => {
    const home = join(original, 'sub/home')
    const first = await make(1)
    await guard(home, original, {
      workspace: { source: hostPath(first.path), path: sandboxPath(original), guardFile: first.guardFile },
    })
    await put(first.path, { 'sub/deep/.vscode/tasks.json': 'evil', 'work.txt': 'work', '.git/hooks/pre-commit': 'evil' })
    await make(2)
    expect(await text('work.txt')).toBe('work')
    expect((await readdir(original)).toSorted()).toEqual(['.git', 'change.txt', 'keep.txt', 'link', 'sub', 'work.txt'])
    expect(await readdir(join(original, '.git/hooks'))).toEqual([])
    expect(await readdir(join(original, 'sub/deep'))).toEqual(['remove.txt'])
    expect(await readFile(join(home, 'quarantine/run_1/files/sub/deep/.vscode/tasks.json'), 'utf8')).toBe('evil')
  })

  it('of a repository goes into the repository itself by way of git, and never file by file', async () => {
    await repository(original, { 'a.txt': 'a' })
    const home = join(original, 'sub/home')
    const first = await make(1, undefined, { isGitPrivate: true })
    const guarded = (path: string, guardFile: string, run: string) =>
      guard(home, original, {
        run,
        workspace: { source: hostPath(path), path: sandboxPath(original), guardFile, mode: 'copy' },
        user: owner,
      })
    const one = await guarded(first.path, first.guardFile, 'run_1')
    const own = one.masks.find(({ kind, path }) => kind === 'instead' && path === join(original, '.git'))
    expect(own).toMatchObject({ writable: true })
    const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@x', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@x' }
    const work = (name: string, masks: typeof one.masks) => {
      const over = masks.flatMap((mask) => (mask.kind === 'instead' ? ['--bind', mask.source, mask.path] : []))
      const script = `echo ${name} > ${name}; git add ${name}; git commit -qm ${name}; git config core.fsmonitor evil; echo evil > .git/commondir`
      const args = ['--dev-bind', '/', '/', '--bind', first.path, original, ...over, '--chdir', original, 'sh', '-ec', script]
      execFileSync('bwrap', args, { env: { PATH: process.env.PATH, ...identity } })
    }
    work('one', one.masks)
    await one.settle()
    // The original knows of it at once, and its files follow.
    expect(git(original, 'log', '--format=%s')).toBe('one\nfirst\n')
    await writeFile(join(first.path, '.git/planted'), 'evil')
    await first.bringBack()
    expect(git(original, 'status', '--porcelain')).not.toMatch(/one|a.txt/)
    expect(await readdir(join(original, '.git'))).not.toContain('planted')
    expect(await readdir(join(original, '.git'))).not.toContain('commondir')
  })

  it('tells what it cost', async () => {
    expect((await make()).cost).toEqual({ files: 3, bytes: 14, ms: expect.any(Number) })
  })

  it('takes nothing for a conflict that an earlier run brought back itself', async () => {
    const first = await make(1)
    await writeFile(join(first.path, 'change.txt'), 'first')
    const second = await make(2)
    await writeFile(join(second.path, 'change.txt'), 'second')
    await rm(join(second.path, 'keep.txt'))
    expect(await second.bringBack()).toMatchObject({ changed: ['change.txt'], removed: ['keep.txt'], conflicts: [] })
    expect(await text('change.txt')).toBe('second')
  })

  it('belongs to one run: who lost the task can neither remove the copy of the next nor take it back', async () => {
    const first = await make(1)
    const second = await make(2)
    await writeFile(join(second.path, 'work.txt'), 'half done')
    await expect(first.bringBack()).rejects.toThrow('ENOENT')
    await first.remove()
    const late = await make(1)
    expect(late.path).not.toBe(second.path)
    expect(await readFile(join(second.path, 'work.txt'), 'utf8')).toBe('half done')
    await expect(lstat(join(original, 'work.txt'))).rejects.toThrow('ENOENT')
  })

  it('that is being removed is taken over by nobody: what is gone from it would be removed from the original', async () => {
    for (let n = 0; n < 3_000; n++) await put(original, { [`many/${n}`]: '' })
    const first = await make(1)
    const removing = first.remove()
    while (existsSync(join(first.path, 'many/0')) && existsSync(join(first.path, 'many/2999'))) await new Promise(setImmediate)
    // Whether its record or its files go first is up to the file system.
    expect(readdirSync(join(root, 'copies'))).toEqual([expect.stringMatching(/^task\.1\.copy\..+\.tmp$/)])
    const second = await make(2)
    await second.bringBack()
    await removing
    expect(await readdir(join(original, 'many'))).toHaveLength(3_000)
    expect(await readdir(join(root, 'copies'))).toEqual(['task.2.copy'])
  })

  it('is not made to the end when the run is stopped, and leaves nothing', async () => {
    const stop = new AbortController()
    await mkdir(join(original, 'many'))
    for (let n = 0; n < 2_000; n++) await writeFile(join(original, `many/${n}`), '')
    const making = make(1, stop.signal)
    making.catch(() => {})
    const isBegun = () => readdirSync(join(root, 'copies')).some((name) => existsSync(join(root, 'copies', name, 'copy')))
    while (!existsSync(join(root, 'copies')) || !isBegun()) await new Promise(setImmediate)
    stop.abort()
    await expect(making).rejects.toThrow('could not be copied')
    expect(await readdir(join(root, 'copies'))).toEqual([])
  })

  it('is made by the programs of the system, whatever an agent put where npm lets us look first', async () => {
    const bin = join(original, 'node_modules/.bin')
    await mkdir(bin, { recursive: true })
    for (const name of ['cp', 'chown']) await writeFile(join(bin, name), `#!/bin/sh\n: > ${root}/executed\n`, { mode: 0o755 })
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
    const copy = await make().finally(() => vi.unstubAllEnvs())
    expect(await readFile(join(copy.path, 'keep.txt'), 'utf8')).toBe('keep')
    expect(existsSync(join(root, 'executed'))).toBe(false)
  })

  it('is none of what a link leads to, nor of another folder, that took its place since it was looked at', async () => {
    const secret = join(root, 'secret')
    await mkdir(secret)
    await writeFile(join(secret, 'key'), 'canary')
    const mark = await placeAt(original)
    await rename(original, join(root, 'away'))
    await symlink(secret, original)
    await expect(make(1, undefined, { mark })).rejects.toThrow(/was exchanged for something else/)
    await expect(make()).rejects.toThrow(/was exchanged for something else/)
    await rm(original)
    await rename(secret, original)
    await expect(make(1, undefined, { mark })).rejects.toThrow(/was exchanged for something else/)
  })

  it('is brought back to the folder that it was made of, and to no other', async () => {
    const copy = await make()
    await writeFile(join(copy.path, 'authorized_keys'), 'evil')
    await mkdir(join(root, 'secret'))
    await rename(original, join(root, 'away'))
    await symlink(join(root, 'secret'), original)
    await expect(copy.bringBack()).rejects.toThrow(/was exchanged for something else/)
    // Whoever goes on with it after a crash.
    await expect(make(2)).rejects.toThrow(/was exchanged for something else/)
    expect(await readdir(join(root, 'secret'))).toEqual([])
    await rm(original)
    await rename(join(root, 'away'), original)
    expect((await (await make(3)).bringBack()).failed).toEqual([])
    expect(await text('authorized_keys')).toBe('evil')
  })

  it('brings files back whose names look like numbers or like parts of the language', async () => {
    const copy = await make()
    await writeFile(join(copy.path, '__proto__'), 'a')
    await mkdir(join(copy.path, '7'))
    await writeFile(join(copy.path, '7/1'), 'b')
    expect((await copy.bringBack()).added.toSorted()).toEqual(['7/1', '__proto__'])
    expect(await text('7/1')).toBe('b')
  })
})

function isAlive(pid: number): boolean {
  try {
    // A zombie has ended, whoever has to collect it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
