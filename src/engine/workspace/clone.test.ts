import { lstat, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBubblewrap } from '../../sandbox/bubblewrap/sandbox.ts'
import { type ClonePlan, cloneWorkspace } from './clone.ts'
import { placeAt } from './same-place.ts'
import { git, guard, put, repository, testPaths } from './testing.ts'
import { prepareWorkspace } from './workspace.ts'

describe('a clone for a task', () => {
  let base: string
  let root: string
  let plan: ClonePlan
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-clone-'))
    root = join(base, 'ws')
    const home = join(base, 'home')
    plan = {
      ...{ original: root, folder: join(home, 'workspaces'), task: 'tsk_1', owner: undefined, without: home, paths: testPaths },
      signal: new AbortController().signal,
    }
    await repository(root, { 'a.txt': 'a' })
  })
  afterEach(() => rm(base, { recursive: true, force: true }))
  const head = (folder: string, ref = 'HEAD') => git(folder, 'rev-parse', ref).trim()

  it('is a repository of its own on its own branch, and shares no object with the original', async () => {
    const clone = await cloneWorkspace(plan)
    expect(git(clone.path, 'branch', '--show-current').trim()).toBe('pawl/tsk_1')
    expect(head(clone.path)).toBe(head(root))
    const objects = await readdir(join(clone.path, '.git/objects'), { recursive: true, withFileTypes: true })
    for (const file of objects.filter((entry) => entry.isFile()))
      expect((await lstat(join(file.parentPath, file.name))).nlink).toBe(1)
    expect(await readdir(join(clone.path, '.git'))).not.toContain('hooks')
  })

  it('is gone on with by the next run of the task, and is made anew if it was half made', async () => {
    const first = await cloneWorkspace(plan)
    await put(first.path, { 'work.txt': 'half done' })
    const second = await cloneWorkspace(plan)
    expect(second.isNew).toBe(false)
    expect(await readFile(join(second.path, 'work.txt'), 'utf8')).toBe('half done')
    await rm(join(second.path, '../clone.json'))
    expect((await cloneWorkspace(plan)).isNew).toBe(true)
    expect(await readdir(second.path)).toEqual(['.git', 'a.txt'])
  })

  it('brings its branch back when asked, never over one that went its own way', async () => {
    const clone = await cloneWorkspace(plan)
    await put(clone.path, { 'b.txt': 'b' })
    git(clone.path, 'add', '-A')
    git(clone.path, 'commit', '-qm', 'work')
    expect(await clone.bringBranch()).toEqual({ brought: true })
    expect(head(root, 'pawl/tsk_1')).toBe(head(clone.path))
    expect(git(root, 'status', '--porcelain')).toBe('')
    git(root, 'branch', '-f', 'pawl/tsk_1', 'main')
    git(clone.path, 'commit', '-q', '--amend', '-m', 'other work')
    expect(await clone.bringBranch()).toEqual({ brought: true })
    git(root, 'checkout', '-q', 'pawl/tsk_1')
    git(root, 'commit', '-q', '--allow-empty', '-m', "the owner's")
    git(root, 'checkout', '-q', 'main')
    git(clone.path, 'commit', '-q', '--allow-empty', '-m', "the agent's")
    expect(await clone.bringBranch()).toMatchObject({ brought: false, why: expect.stringContaining('rejected') })
    expect(git(root, 'log', '-1', '--format=%s', 'pawl/tsk_1').trim()).toBe("the owner's")
  })

  it('works behind the guard, is told in the result, and is refused for what is no repository', async () => {
    const request = {
      path: root,
      own: false,
      mode: 'clone',
      bringBackBranch: true,
      user: undefined,
      fence: 1,
      onCopy: () => {},
    } as const
    const { original: _, owner: __, ...rest } = plan
    const workspace = await prepareWorkspace({ ...rest, ...request, signal: new AbortController().signal })
    const guarded = await guard(plan.without, root, { workspace })
    await put(workspace.source, { 'sub/.vscode/tasks.json': 'evil', 'b.txt': 'b' })
    git(workspace.source, 'add', 'b.txt')
    git(workspace.source, 'commit', '-qm', 'work')
    expect((await guarded.settle()).quarantined).toEqual(['sub/.vscode'])
    expect(await workspace.finish(true)).toMatchObject({ told: `The branch pawl/tsk_1 is in ${root}.`, failed: [] })
    expect(git(root, 'show', '--name-only', '--format=', 'pawl/tsk_1')).toBe('b.txt\n')
    await rm(join(root, '.git'), { recursive: true })
    await expect(cloneWorkspace({ ...plan, task: 'tsk_2' })).rejects.toThrow('is no git repository')
  })

  describe('of a repository that somebody else made', () => {
    const { confine } = createBubblewrap()
    const secret = () => join(base, 'private')
    beforeEach(() => repository(secret(), { 'key.txt': 'canary' }))
    const hold = (path: string, text: string) => put(root, { [path]: text })

    it('is refused where another one is named that does not name it, by whatever way', async () => {
      const dotGit = join(root, '.git')
      await hold('.git/commondir', `${secret()}/.git\n`)
      await expect(cloneWorkspace(plan)).rejects.toThrow('names another repository')
      await rm(dotGit, { recursive: true })
      await symlink(join(secret(), '.git'), dotGit)
      await expect(cloneWorkspace(plan)).rejects.toThrow('is a link')
      await rm(dotGit)
      await hold('.git', `gitdir: ${secret()}/.git\n`)
      await expect(cloneWorkspace(plan)).rejects.toThrow('does not name it')
    })

    it('holds nothing that a link in it leads to', async () => {
      const refs = join(root, '.git/refs')
      await hold('.git/objects/info/alternates', `${secret()}/.git/objects\n`)
      await rm(refs, { recursive: true })
      await symlink(join(secret(), '.git/refs'), refs)
      const clone = await cloneWorkspace({ ...plan, confine }).catch(() => undefined)
      expect(clone && (await readdir(clone.path))).toBeUndefined()
      // Without walls git goes there.
      expect(await readdir((await cloneWorkspace(plan)).path)).toContain('key.txt')
    })

    it('starts nothing when the branch is brought back to it', async () => {
      const clone = await cloneWorkspace({ ...plan, confine })
      await put(clone.path, { 'b.txt': 'b' })
      git(clone.path, 'add', '-A')
      git(clone.path, 'commit', '-qm', 'work')
      git(root, 'config', 'protocol.ext.allow', 'always')
      git(root, 'config', `url.ext::sh -c touch% ${base}/executed% .insteadOf`, `${base}/home`)
      await clone.bringBranch()
      expect(await readdir(base)).not.toContain('executed')
    })

    it('gets the branch, and no other repository does that is named there by now', async () => {
      const clone = await cloneWorkspace({ ...plan, confine })
      await put(clone.path, { 'b.txt': 'b' })
      git(clone.path, 'add', '-A')
      git(clone.path, 'commit', '-qm', 'work')
      expect(await clone.bringBranch()).toEqual({ brought: true })
      expect(head(root, 'pawl/tsk_1')).toBe(head(clone.path))
      await rm(join(root, '.git'), { recursive: true })
      await hold('.git', `gitdir: ${secret()}/.git\n`)
      expect(await clone.bringBranch()).toMatchObject({ brought: false, why: expect.stringContaining('does not name it') })
      expect(git(secret(), 'branch', '--list', 'pawl/*')).toBe('')
    })

    it('is made of linked worktrees, submodules and borrowed objects as of any other, behind walls', async () => {
      git(root, 'worktree', 'add', '-q', join(base, 'linked'), '-b', 'other')
      git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', secret(), 'module')
      git(base, 'clone', '-q', '--shared', root, 'borrower')
      for (const [task, original, file] of [
        ['tsk_2', root, 'a.txt'],
        ['tsk_3', join(base, 'linked'), 'a.txt'],
        ['tsk_4', join(root, 'module'), 'key.txt'],
        ['tsk_5', join(base, 'borrower'), 'a.txt'],
      ] as const) {
        const clone = await cloneWorkspace({ ...plan, task, original, confine })
        expect(await readdir(clone.path)).toContain(file)
        expect(git(clone.path, 'status', '--porcelain')).toBe('')
        git(clone.path, 'commit', '-q', '--allow-empty', '-m', 'work')
        expect(await clone.bringBranch()).toEqual({ brought: true })
        expect(head(original, clone.branch)).toBe(head(clone.path))
      }
    })

    it('is none of what took its place since it was looked at', async () => {
      const mark = await placeAt(root)
      await rename(root, join(base, 'away'))
      await rename(secret(), root)
      await expect(cloneWorkspace({ ...plan, mark, confine })).rejects.toThrow('was exchanged')
      await rename(root, secret())
      await symlink(secret(), root)
      await expect(cloneWorkspace({ ...plan, mark, confine })).rejects.toThrow()
      await expect(cloneWorkspace({ ...plan, confine })).rejects.toThrow()
    })
  })
})
