import { existsSync } from 'node:fs'
import { chmod, link, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GuardRecord, guardFolder, recordFile } from './guard-record.ts'
import { listQuarantine, restoreFromQuarantine } from './quarantine.ts'
import { sweepGuards } from './settle-guard.ts'
import { git, guard, inside, put, repository, testPaths } from './testing.ts'
import { configurationDigest } from './trusted.ts'

let base: string
let root: string
let home: string
const at = (path: string) => join(root, path)
const text = (path: string) => readFile(at(path), 'utf8')
const names = async () => (await readdir(root)).toSorted()

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'pawl-guard-'))
  root = join(base, 'ws')
  home = join(base, 'home')
  await mkdir(root)
  await mkdir(home)
})
afterEach(() => rm(base, { recursive: true, force: true }))

describe('while a run lasts', () => {
  it('the agent sees nothing of what its program would obey, and can make none of it at the top', async () => {
    await put(root, { '.agent/settings.json': '{"hooks":1}', 'deep/er/.agent/x': 'x', 'a.txt': 'a' })
    const guarded = await guard(home, root)
    const { out } = await inside(
      guarded,
      root,
      'ls -A .agent deep/er/.agent; for f in .agent/x deep/er/.agent/y .tools.json/x .vscode/tasks.json .husky/x; do echo evil > $f; done; mkdir .tools.json; mv .agent b; mv .vscode c; rm -rf .husky; echo b > b.txt',
    )
    expect(out).not.toContain('settings.json')
    const settled = await guarded.settle()
    expect(settled).toMatchObject({ quarantined: [], keptAt: undefined, flagged: [], sentence: undefined })
    expect(await text('.agent/settings.json')).toBe('{"hooks":1}')
    expect(await names()).toEqual(['.agent', 'a.txt', 'b.txt', 'deep'])
  })

  it('a folder of ours stays without reserved names, also where our home lies behind a link', async () => {
    const [link, own] = [join(base, 'link'), join(home, 'workspaces/task_1')]
    await mkdir(own, { recursive: true })
    await symlink(home, link)
    const reserved = async (ours: string) => {
      const guarded = await guard(ours, own, { own: [] })
      const names = await readdir(own)
      await guarded.settle()
      return names
    }
    expect(await reserved(home)).toEqual([])
    expect(await reserved(link)).toEqual([])
  })

  it('what other programs obey can be read and not changed', async () => {
    await put(root, { '.npmrc': 'registry=https://example.com', '.vscode/settings.json': '{}' })
    const guarded = await guard(home, root)
    const { out } = await inside(
      guarded,
      root,
      'cat .npmrc .vscode/settings.json; echo evil > .npmrc; rm .npmrc; mv .vscode x; echo evil > .vscode/tasks.json',
    )
    expect(out).toContain('registry=https://example.com{}')
    await guarded.settle()
    expect(await text('.npmrc')).toBe('registry=https://example.com')
    expect(await readdir(at('.vscode'))).toEqual(['settings.json'])
  })

  it('instructions are given, unless the profile says no', async () => {
    await put(root, { 'RULES.md': 'be kind', 'sub/RULES.md': 'below' })
    const open = await guard(home, root)
    expect((await inside(open, root, 'cat RULES.md')).out).toBe('be kind')
    await open.settle()
    const strict = await guard(home, root, { profile: { instructions: false, trusted: [] } })
    expect((await inside(strict, root, 'cat RULES.md sub/RULES.md 2>/dev/null')).out).toBe('')
    await strict.settle()
    expect(await text('RULES.md')).toBe('be kind')
  })

  it('git works: commits, branches and worktrees; hooks do not run, and neither settings nor hooks can be written', async () => {
    await repository(root, { 'a.txt': 'a' })
    git(root, 'config', 'user.name', 'Ada')
    git(root, 'config', 'remote.origin.url', 'https://me:secret@example.com/a.git')
    git(root, 'config', 'core.fsmonitor', `touch ${base}/canary`)
    await put(root, { '.git/hooks/pre-commit': `#!/bin/sh\ntouch ${base}/canary\n` })
    await chmod(at('.git/hooks/pre-commit'), 0o755)
    const guarded = await guard(home, root)
    const work = await inside(
      guarded,
      root,
      'set -e; git status --porcelain; echo b > b.txt; git add -A; git commit -qm second; git checkout -qb other; git worktree add -q wt; git remote get-url origin; git log --oneline | wc -l; git config user.name',
    )
    expect(work).toMatchObject({ code: 0 })
    expect(work.out).toContain('https://example.com/a.git\n2\nAda')
    const attack = await inside(
      guarded,
      root,
      'echo evil >> .git/config; git config core.fsmonitor evil; echo evil > .git/hooks/post-checkout; mv .git/hooks .git/h; mv .git g; rm -rf .git/config; true',
    )
    expect(attack.out).toMatch(/busy/i)
    const settled = await guarded.settle()
    expect(settled.quarantined).toEqual([])
    expect(existsSync(join(base, 'canary'))).toBe(false)
    expect(await readdir(at('.git/hooks'))).toContain('pre-commit')
    expect(git(root, '-c', 'core.fsmonitor=', 'log', '--format=%s', 'main')).toBe('second\nfirst\n')
    expect(git(root, 'config', 'remote.origin.url').trim()).toBe('https://me:secret@example.com/a.git')
    expect(git(at('wt'), '-c', 'core.fsmonitor=', 'status', '--porcelain')).toBe('')
  })

  it('a commit of everything does not delete what the agent cannot see, and takes no stub along', async () => {
    await repository(root, { '.agent/settings.json': '{}', 'RULES.md': 'x', '.npmrc': 'a=b', 'a.txt': 'a' })
    await put(root, { '.tools.json': '{"not":"tracked"}' })
    const guarded = await guard(home, root, { profile: { instructions: false, trusted: [] } })
    const { code, out } = await inside(guarded, root, 'echo b > b.txt; git add -A && git commit -qam all')
    expect({ code, out }).toMatchObject({ code: 0 })
    await guarded.settle()
    expect(git(root, 'show', '--name-status', '--format=', 'HEAD')).toBe('A\tb.txt\n')
    expect(git(root, 'status', '--porcelain')).toBe('?? .tools.json\n')
    expect(git(root, 'ls-files', '-t')).not.toMatch(/^S/m)
  })

  it('what the settings of the repository name in the project cannot be changed either', async () => {
    await repository(root, { 'scripts/hooks/pre-commit': 'x', 'shared.config': '[core]', 'tools/clean.sh': 'x', 'a.txt': 'a' })
    git(root, 'config', 'core.hooksPath', 'scripts/hooks')
    git(root, 'config', 'include.path', '../shared.config')
    git(root, 'config', 'filter.x.clean', 'sh tools/clean.sh %f')
    const guarded = await guard(home, root)
    const { out } = await inside(
      guarded,
      root,
      'for f in scripts/hooks/pre-commit scripts/hooks/new shared.config tools/clean.sh a.txt; do echo evil > $f && echo wrote $f; done 2>/dev/null',
    )
    expect(out).toBe('wrote a.txt\n')
    await guarded.settle()
  })

  it('a link in the place of code is not followed, and what it leads to in the workspace is held', async () => {
    await put(root, { 'shared/settings.json': '{}' })
    await symlink('shared', at('.agent'))
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo evil > shared/settings.json; rm .agent; mkdir .agent; echo evil > .agent/x')
    const settled = await guarded.settle()
    expect(await text('shared/settings.json')).toBe('{}')
    expect(settled.quarantined).toEqual(['.agent'])
    expect((await lstat(at('.agent'))).isSymbolicLink()).toBe(true)
  })
})

describe("in a folder of Pawl's own", () => {
  it("nobody but the agent's program could obey something meanwhile: only its names are reserved, and the rest comes out in the end", async () => {
    const own = join(home, 'workspaces/one')
    await mkdir(own, { recursive: true })
    const guarded = await guard(home, own)
    expect((await readdir(own)).toSorted()).toEqual(['.agent', '.tools.json'])
    await put(own, { '.vscode/tasks.json': 'evil' })
    expect((await guarded.settle()).quarantined).toEqual(['.vscode'])
    expect(await readdir(own)).toEqual([])
    expect(await readdir(guardFolder(home))).toEqual([])
  })
})

describe('a worktree of a repository elsewhere', () => {
  it('can be committed in, and leaves settings and hooks of the repository alone', async () => {
    const main = join(base, 'main')
    await repository(main, { 'a.txt': 'a', '.agent/x': 'x' })
    await rm(root, { recursive: true })
    git(main, 'worktree', 'add', '-q', '-b', 'side', root)
    const guarded = await guard(home, root)
    const { code, out } = await inside(
      guarded,
      root,
      `set -e; echo b > b.txt; git add -A; git commit -qam side; set +e; echo evil >> ${main}/.git/config; echo evil > ${main}/.git/hooks/x; echo evil > ${main}/.git/new; echo ../evil > ${main}/.git/worktrees/ws/commondir; echo gitdir: evil > .git; true`,
    )
    expect({ code, out }).toMatchObject({ code: 0 })
    expect((await guarded.settle()).quarantined).toEqual([])
    expect(git(main, 'log', '--format=%s', 'side')).toBe('side\nfirst\n')
    expect(git(main, 'show', '--name-status', '--format=', 'side')).toBe('A\tb.txt\n')
    expect(existsSync(join(main, '.git/new'))).toBe(false)
    expect(await readFile(join(main, '.git/config'), 'utf8')).not.toContain('evil')
  })

  it('is believed only if that repository points back', async () => {
    const victim = join(base, 'victim')
    await repository(victim, { 'a.txt': 'a', 'RULES.md': 'x' })
    git(victim, 'worktree', 'add', '-q', join(base, 'other'))
    await put(root, { '.git': `gitdir: ${victim}/.git/worktrees/other\n`, 'RULES.md': 'x' })
    const guarded = await guard(home, root, { profile: { instructions: false, trusted: [] } })
    expect(git(victim, 'ls-files', '-t')).toBe('H RULES.md\nH a.txt\n')
    expect(git(join(base, 'other'), 'ls-files', '-t')).toBe('H RULES.md\nH a.txt\n')
    expect(guarded.mounts).toEqual([])
    expect(guarded.notes.join()).toContain('--workspace-mode clone')
    await guarded.settle()
  })
})

describe('when a run ends', () => {
  it('what was planted at any depth is in quarantine, named, and can be put back', async () => {
    await put(root, { 'a/b/c/d/keep.txt': 'k' })
    const guarded = await guard(home, root)
    await put(root, {
      'a/b/c/d/.agent/settings.json': 'evil',
      'a/.vscode/tasks.json': 'evil',
      'a/.envrc': 'evil',
      'node_modules/x/.npmrc': 'nobody reads this',
      'a/b/c/d/new.txt': 'work',
    })
    await symlink('/etc', at('a/b/.husky'))
    const settled = await guarded.settle()
    expect(settled.quarantined.toSorted()).toEqual(['a/.envrc', 'a/.vscode', 'a/b/.husky', 'a/b/c/d/.agent'])
    expect(settled.sentence).toContain('pawl quarantine restore run_1')
    expect(await readFile(join(settled.keptAt!, 'a/b/c/d/.agent/settings.json'), 'utf8')).toBe('evil')
    expect(await readdir(at('a'))).toEqual(['b'])
    expect(await readdir(at('a/b/c/d'))).toEqual(['keep.txt', 'new.txt'])
    expect(await text('node_modules/x/.npmrc')).toBe('nobody reads this')
    expect(await listQuarantine(home)).toMatchObject([{ run: 'run_1', workspace: root }])

    expect(await restoreFromQuarantine(home, 'run_1', 'a/.envrc')).toEqual(['a/.envrc'])
    expect(await text('a/.envrc')).toBe('evil')
    await put(root, { 'a/.vscode/mine.json': 'mine' })
    expect((await restoreFromQuarantine(home, 'run_1')).toSorted()).toEqual(['a/.vscode', 'a/b/.husky', 'a/b/c/d/.agent'])
    expect(await readdir(at('a/.vscode'))).toEqual(['tasks.json'])
    expect(await readFile(join(home, 'quarantine/run_1/replaced/a/.vscode/mine.json'), 'utf8')).toBe('mine')
    expect(await listQuarantine(home)).toEqual([])
    await expect(restoreFromQuarantine(home, 'run_1')).rejects.toThrow('Nothing of the run run_1')
    for (const run of ['..', '../guards', '', 'a/b'])
      await expect(restoreFromQuarantine(home, run)).rejects.toThrow('no id of a run')
  })

  it('a folder that may not be written keeps its mode, and nothing hides in one that is closed or has no readable name', async () => {
    await put(root, { 'mine/a.txt': 'a' })
    await chmod(at('mine'), 0o555)
    const guarded = await guard(home, root)
    await put(root, { 'still/.envrc': 'evil', 'closed/in/.envrc': 'evil' })
    await chmod(at('still'), 0o555)
    await chmod(at('closed'), 0)
    const odd = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x6f, 0xff])])
    await mkdir(odd)
    await writeFile(Buffer.concat([odd, Buffer.from('/.envrc')]), 'evil')
    expect((await guarded.settle()).quarantined.toSorted()).toEqual(['closed/in/.envrc', 'still/.envrc', 'unnamed-6fff'])
    expect((await lstat(at('mine'))).mode & 0o777).toBe(0o555)
    expect((await lstat(at('still'))).mode & 0o777).toBe(0o555)
    expect(await names()).toEqual(['closed', 'mine', 'still'])
  })

  it('what was changed by its second name is put back', async () => {
    await put(root, { '.agent/settings.json': '{}', '.npmrc': 'mine=1' })
    await link(at('.agent/settings.json'), at('one'))
    await link(at('.npmrc'), at('two'))
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo evil > one; echo evil > two')
    expect((await guarded.settle()).quarantined.toSorted()).toEqual(['.agent', '.npmrc'])
    expect(await text('.agent/settings.json')).toBe('{}')
    expect(await text('.npmrc')).toBe('mine=1')
  })

  it('a repository that was made inside works on, without what would run something', async () => {
    const guarded = await guard(home, root)
    await repository(at('a/new'), { 'x.txt': 'x' })
    git(at('a/new'), 'config', 'core.fsmonitor', `touch ${base}/canary`)
    git(at('a/new'), 'config', 'user.name', 'Ada')
    await put(root, { 'a/new/.git/hooks/post-commit': 'evil', 'a/new/.git/commondir': '../../../elsewhere' })
    const settled = await guarded.settle()
    expect(settled.quarantined.toSorted()).toEqual(['a/new/.git/commondir', 'a/new/.git/config', 'a/new/.git/hooks/post-commit'])
    expect(git(at('a/new'), 'status', '--porcelain')).toBe('')
    expect(git(at('a/new'), 'config', 'user.name').trim()).toBe('Ada')
    expect(existsSync(join(base, 'canary'))).toBe(false)
    expect(await readFile(join(settled.keptAt!, 'a/new/.git/config'), 'utf8')).toContain('canary')
  })

  it('a repository that was made inside says nothing of files elsewhere, and holds no commands for whoever goes on with it', async () => {
    const guarded = await guard(home, root)
    for (const name of ['up', 'link', 'sl']) await repository(at(name), { 'x.txt': 'x' })
    git(at('up'), 'config', 'core.worktree', '../../../victim')
    await symlink(base, at('link/out'))
    git(at('link'), 'config', 'core.worktree', '../out/victim')
    await put(root, {
      'up/.git/rebase-merge/git-rebase-todo': 'exec evil',
      'link/.git/rebase-apply/next': '1',
      'link/.git/sequencer/todo': 'pick x',
      'sl/.git/sl/config': '[alias]\nx = !evil',
    })
    const settled = await guarded.settle()
    expect(settled.quarantined.toSorted()).toEqual([
      'link/.git/config',
      'link/.git/rebase-apply',
      'link/.git/sequencer',
      'sl/.git/sl',
      'up/.git/config',
      'up/.git/rebase-merge',
    ])
    for (const name of ['up', 'link']) {
      expect(git(at(name), 'rev-parse', '--show-toplevel').trim()).toBe(at(name))
      expect(git(at(name), 'status', '--porcelain')).not.toContain(' D')
    }
  })

  it('a repository that was made inside keeps the work tree that points back to it, also one whose name begins with dots', async () => {
    const guarded = await guard(home, root)
    for (const name of ['lib', '..lib']) {
      await repository(at(name), { 'x.txt': 'x' })
      await mkdir(at('gits'), { recursive: true })
      await rename(at(`${name}/.git`), at(`gits/${name}`))
      await put(root, { [`${name}/.git`]: `gitdir: ../gits/${name}\n` })
      git(at(name), 'config', 'core.worktree', `../../${name}`)
    }
    expect(await guarded.settle()).toMatchObject({ quarantined: [] })
    for (const name of ['lib', '..lib']) expect(git(at(name), 'config', 'core.worktree').trim()).toBe(`../../${name}`)
  })

  it('a repository with another name, and pointers to one that nobody looked at, are found', async () => {
    const guarded = await guard(home, root)
    await repository(at('work'), { 'x.txt': 'x' })
    await rename(at('work/.git'), at('work/store'))
    git(root, 'config', '--file', at('work/store/config'), 'alias.x', '!evil')
    await put(root, { 'sub/.git': 'gitdir: ../node_modules/evil\n', 'sub2/.git': 'gitdir: ../work/store\n' })
    await mkdir(at('sub3'))
    await symlink('../work/store', at('sub3/.git'))
    const settled = await guarded.settle()
    expect(settled.quarantined.toSorted()).toEqual(['sub/.git', 'sub3/.git', 'work/store/config'])
    expect(await text('work/store/config')).not.toContain('alias')
  })

  it('nothing hides in a folder that is made to look like a repository', async () => {
    await repository(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await put(root, {
      ...{ HEAD: 'ref: refs/heads/x', 'objects/x': '', 'refs/x': '' },
      'src/.envrc': 'evil',
      'objects/deep/.envrc': 'evil',
      'src/modules/x/.envrc': 'evil',
    })
    expect((await guarded.settle()).quarantined.toSorted()).toEqual(['objects/deep/.envrc', 'src/.envrc', 'src/modules/x/.envrc'])
  })

  it('submodules work, whatever they are called', async () => {
    await repository(join(base, 'other'), { 'x.txt': 'x' })
    await repository(root, { 'a.txt': 'a' })
    for (const name of ['hooks', 'libs/config', 'modules'])
      git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', join(base, 'other'), name)
    git(root, 'commit', '-qm', 'second')
    const guarded = await guard(home, root)
    const work = await inside(
      guarded,
      root,
      'for m in hooks libs/config modules; do (cd $m && echo y > y && git add y && git commit -qm y) || exit 1; done; git commit -qam third',
    )
    expect(work).toEqual({ code: 0, out: '' })
    expect(await guarded.settle()).toMatchObject({ quarantined: [], flagged: [] })
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('of packages it is told that something was put into them, and no more', async () => {
    await put(root, { 'node_modules/x/index.js': 'x', 'node_modules/@y/z/index.js': 'z', 'lib/node_modules/x/index.js': 'x' })
    const quiet = await guard(home, root)
    expect((await quiet.settle()).flagged).toEqual([])
    const guarded = await guard(home, root)
    await put(root, { 'node_modules/@y/z/.agent/settings.json': 'evil' })
    expect(await guarded.settle()).toMatchObject({ quarantined: [], flagged: ['node_modules'] })
  })

  it('hundreds of planted files go by the folders that hold nothing else, and come back so', async () => {
    await put(root, { 'mine/a.txt': 'a', '.npmrc': 'mine=1' })
    const guarded = await guard(home, root)
    const many = Array.from({ length: 150 }, (_, n) => [
      [`m/deep/${n}/.envrc`, 'evil'],
      [`mine/${n}/.envrc`, 'evil'],
    ]).flat()
    await put(root, Object.fromEntries(many))
    await writeFile(at('.npmrc.new'), 'evil')
    await rename(at('.npmrc.new'), at('.npmrc'))
    const { quarantined } = await guarded.settle()
    expect([quarantined.length, quarantined.includes('m'), quarantined.includes('mine/7')]).toEqual([152, true, true])
    expect([await names(), await readdir(at('mine')), await text('.npmrc')]).toEqual([['.npmrc', 'mine'], ['a.txt'], 'mine=1'])
    expect(await restoreFromQuarantine(home, 'run_1', 'm')).toEqual(['m'])
    expect(await text('m/deep/7/.envrc')).toBe('evil')
    expect((await restoreFromQuarantine(home, 'run_1')).length).toBe(151)
    expect([await text('mine/7/.envrc'), await text('.npmrc')]).toEqual(['evil', 'evil'])
    expect(await listQuarantine(home)).toEqual([])
  })

  it('a settling that was cut short is gone on with: the list has everything once', async () => {
    const guarded = await guard(home, root)
    await put(root, { 'a/.envrc': 'evil', 'b/.envrc': 'evil' })
    const list = {
      ...{ run: 'run_1', workspace: root },
      items: ['a/.envrc', 'b/.envrc'].map((path) => ({ path, runs: 'shell', instead: 'nothing' })),
    }
    await put(home, { 'quarantine/run_1/list.json': JSON.stringify(list), 'quarantine/run_1/files/a/.envrc': 'evil' })
    await rm(at('a/.envrc'))
    expect((await guarded.settle()).quarantined).toEqual(['a/.envrc', 'b/.envrc'])
    expect((await listQuarantine(home))[0]?.items.length).toBe(2)
    expect(await restoreFromQuarantine(home, 'run_1')).toEqual(['a/.envrc', 'b/.envrc'])
  })

  it('a settling that was cut short between moving out and putting back puts back', async () => {
    await put(root, { 'a/.envrc': 'mine' })
    const guarded = await guard(home, root)
    const list = { run: 'run_1', workspace: root, items: [{ path: 'a/.envrc', runs: 'shell', instead: 'earlier' }] }
    await put(home, { 'quarantine/run_1/list.json': JSON.stringify(list), 'quarantine/run_1/files/a/.envrc': 'evil' })
    await rm(at('a/.envrc'))
    expect((await guarded.settle()).sentence).toContain('moved to')
    expect(await text('a/.envrc')).toBe('mine')
    expect((await listQuarantine(home))[0]?.items.length).toBe(1)
  })

  it('what the owner did meanwhile to the settings of git stays: the agent could not get at them', async () => {
    await repository(root, { 'a.txt': 'a', '.npmrc': 'mine=1' })
    git(root, 'config', 'alias.x', '!mine')
    const guarded = await guard(home, root)
    git(root, 'remote', 'add', 'origin', 'https://example.com/a.git')
    await writeFile(at('.npmrc.new'), 'changed=1')
    await rename(at('.npmrc.new'), at('.npmrc'))
    expect((await guarded.settle()).quarantined).toEqual(['.npmrc'])
    expect(await text('.npmrc')).toBe('mine=1')
    expect(git(root, 'config', 'alias.x').trim()).toBe('!mine')
    expect(git(root, 'remote').trim()).toBe('origin')

    const other = await guard(home, root, { run: 'run_2' })
    git(root, 'config', 'alias.y', '!mine')
    expect((await other.settle()).quarantined).toEqual([])
    expect(git(root, 'config', 'alias.y').trim()).toBe('!mine')
  })

  it("changes to the user's own recipes are told and stay", async () => {
    await put(root, {
      'package.json': '{"scripts":{"test":"a"},"version":"1"}',
      'lib/package.json': '{"version":"1"}',
      Makefile: 'all:',
    })
    const guarded = await guard(home, root)
    await put(root, {
      'package.json': '{"scripts":{"test":"b"},"version":"1"}',
      'lib/package.json': '{"version":"2"}',
      Makefile: 'all: evil',
      '.github/workflows/ci.yml': 'on: push',
      'RULES.md': 'new rules',
    })
    const settled = await guarded.settle()
    expect(settled.flagged.toSorted()).toEqual(['.github', '.github/workflows', 'Makefile', 'RULES.md', 'package.json'])
    expect(settled.quarantined).toEqual([])
    expect(await text('Makefile')).toBe('all: evil')
  })

  it('without walls nothing is moved and everything is told', async () => {
    const guarded = await guard(home, root, { enforced: false })
    expect(guarded.masks).toEqual([])
    await put(root, { '.agent/x': 'x' })
    expect(await guarded.settle()).toMatchObject({ quarantined: [], flagged: ['.agent'], sentence: undefined })
    expect(await text('.agent/x')).toBe('x')
  })
})

describe('a trusted repository', () => {
  it('is not covered while its configuration is the one that was trusted, and a change by the agent is undone', async () => {
    await repository(root, { '.agent/settings.json': '{}', '.vscode/settings.json': '{}' })
    const digest = await configurationDigest(root, { paths: testPaths, home })
    const trusting = { profile: { instructions: true, trusted: [{ path: root, digest }] } }
    const guarded = await guard(home, root, trusting)
    expect(guarded.masks.filter(({ path }) => !path.startsWith(at('.git')))).toEqual([])
    await put(root, { '.agent/settings.json': 'evil', '.agent/more': 'evil' })
    git(root, 'remote', 'add', 'origin', 'https://example.com/a.git')
    const settled = await guarded.settle()
    expect(settled.quarantined).toEqual(['.agent'])
    expect(await text('.agent/settings.json')).toBe('{}')
    expect(await readdir(at('.agent'))).toEqual(['settings.json'])
    expect(git(root, 'remote').trim()).toBe('origin')

    await put(root, { '.agent/settings.json': '{"changed":"by the owner"}' })
    const later = await guard(home, root, trusting)
    expect(later.masks.length).toBeGreaterThan(0)
    await later.settle()
  })
})

describe('after a crash', () => {
  const forgetOwner = async (file: string) => {
    const record = JSON.parse(await readFile(file, 'utf8')) as GuardRecord
    await writeFile(file, JSON.stringify({ ...record, owner: { ...record.owner, pid: 2 ** 22 - 1, startTime: 1 } }))
  }

  it('a file that our own tools were writing is gone, and none that another process makes or made', async () => {
    await put(root, { 'sub/a.txt': 'a' })
    await guard(home, root)
    const others = [`.pawl.${2 ** 22 - 2}-1-1.tmp`, `a.${2 ** 22 - 1}-1-1.tmp`]
    for (const name of [`.pawl.${2 ** 22 - 1}-1-1.tmp`, ...others]) await put(root, { [`sub/${name}`]: 'half' })
    await forgetOwner(recordFile(home, root, 'run_1'))
    await sweepGuards(home, testPaths)
    expect((await readdir(join(root, 'sub'))).toSorted()).toEqual([...others, 'a.txt'].toSorted())
  })

  it('no stub is left, git sees everything again, and what was planted is in quarantine', async () => {
    await repository(root, { '.agent/x': 'x' })
    await guard(home, root)
    expect(await names()).toContain('.vscode')
    await put(root, { 'sub/.vscode/tasks.json': 'evil' })
    await forgetOwner(recordFile(home, root, 'run_1'))
    expect(await sweepGuards(home, testPaths)).toMatchObject([{ run: 'run_1', quarantined: ['sub/.vscode'] }])
    expect(await names()).toEqual(['.agent', '.git', 'sub'])
    expect(git(root, 'ls-files', '-t')).toBe('H .agent/x\n')
    expect(await readdir(guardFolder(home))).toEqual([])
  })

  it('the next run settles first what the dead one left, so nothing that it covers is taken away from under it', async () => {
    await put(root, { '.agent/x': 'x' })
    await guard(home, root)
    await put(root, { 'sub/.vscode/tasks.json': 'evil' })
    await forgetOwner(recordFile(home, root, 'run_1'))
    const next = await guard(home, root, { run: 'run_2', records: join(home, 'runs/run_2') })
    expect(next.notes.join()).toContain('sub/.vscode')
    // Whoever finds the worker dead only now.
    expect(await sweepGuards(home, testPaths)).toEqual([])
    expect(await inside(next, root, 'ls -A .agent')).toMatchObject({ code: 0, out: '' })
    await next.settle()
    expect(await names()).toEqual(['.agent', 'sub'])
    expect(await readdir(guardFolder(home))).toEqual([])
  })

  it('a sweep and the next run may come at once, in either order', async () => {
    await put(root, { '.agent/x': 'x' })
    for (let round = 0; round < 6; round++) {
      await guard(home, root, { run: `dead_${round}`, records: join(home, `runs/dead_${round}`) })
      await forgetOwner(recordFile(home, root, `dead_${round}`))
      const begin = () => guard(home, root, { run: `next_${round}`, records: join(home, `runs/next_${round}`) })
      const first = round % 2 === 0 ? undefined : sweepGuards(home, testPaths)
      const [next] = await Promise.all([begin(), first, sweepGuards(home, testPaths)])
      expect(await inside(next, root, 'ls -A .agent')).toMatchObject({ code: 0, out: '' })
      await next.settle()
      expect(await names()).toEqual(['.agent'])
    }
  })

  it('the guards of runs that live are left alone', async () => {
    const guarded = await guard(home, root)
    expect(await sweepGuards(home, testPaths)).toEqual([])
    expect(await names()).toContain('.vscode')
    await guarded.settle()
    expect(await names()).toEqual([])
  })
})

describe('two runs in one workspace', () => {
  it('each have their own git, which overlooks what they do not see', async () => {
    await repository(root, { '.agent/x': 'x' })
    const first = await guard(home, root)
    const second = await guard(home, root, { run: 'run_2', records: join(home, 'runs/run_2') })
    for (const guarded of [first, second]) expect((await inside(guarded, root, 'git ls-files -t')).out).toBe('S .agent/x\n')
    expect(git(root, 'ls-files', '-t')).toBe('H .agent/x\n')
    await first.settle()
    await second.settle()
    expect(git(root, 'ls-files', '-t')).toBe('H .agent/x\n')
  })

  it('work on when the index of git is locked', async () => {
    await repository(root, { '.agent/x': 'x' })
    await put(root, { '.git/index.lock': '' })
    const guarded = await guard(home, root)
    expect((await inside(guarded, root, 'git status --porcelain')).out).toBe('')
    expect(await guarded.settle()).toMatchObject({ quarantined: [], sentence: undefined })
  })

  it('share their stubs: the last one to end removes them', async () => {
    const first = await guard(home, root)
    const second = await guard(home, root, { run: 'run_2', records: join(home, 'runs/run_2') })
    expect((await first.settle()).quarantined).toEqual([])
    expect(await names()).toContain('.vscode')
    expect((await second.settle()).quarantined).toEqual([])
    expect(await names()).toEqual([])
  })

  it('leave nothing of ours for a program that waits, and cover for it in the next run what they covered before', async () => {
    const first = await guard(home, root, { session: 'ses_1' })
    const ids = () => Promise.all(['.vscode', '.husky'].map(async (name) => (await lstat(join(root, name))).ino))
    const before = await ids()
    await put(root, { 'sub/.envrc': 'evil' })
    expect(await first.settle({ keeps: true })).toMatchObject({ quarantined: ['sub/.envrc'], areParked: true })
    expect(await names()).toEqual(['sub'])
    const second = await guard(home, root, { session: 'ses_1', run: 'run_2', records: join(home, 'runs/run_2') })
    expect(second.likeness).toBe(first.likeness)
    // What is mounted on a folder goes with it, wherever it is moved.
    expect(await ids()).toEqual(before)
    expect(await second.settle({ keeps: true })).toMatchObject({ quarantined: [], areParked: true })
    expect(await names()).toEqual(['sub'])
    await second.dropParked()
    expect(await readdir(join(home, 'parked'))).toEqual([])
  })

  it('put nothing aside that is not theirs, and say so', async () => {
    const first = await guard(home, root)
    await put(root, { '.vscode/tasks.json': 'of the user' })
    expect(await first.settle({ keeps: true })).toMatchObject({ quarantined: ['.vscode'], areParked: false })
    const second = await guard(home, root, { run: 'run_2', records: join(home, 'runs/run_2') })
    expect(await second.settle({ keeps: true })).toMatchObject({ quarantined: [], areParked: true })
    // What the user made where one was reserved is not taken away, though a folder can be moved over an empty one.
    await mkdir(join(root, '.vscode'))
    const { ino } = await lstat(join(root, '.vscode'))
    const third = await guard(home, root, { run: 'run_3', records: join(home, 'runs/run_3') })
    expect(third.likeness).not.toBe(first.likeness)
    expect((await lstat(join(root, '.vscode'))).ino).toBe(ino)
    await third.settle()
    expect(await names()).toEqual(['.vscode'])
    expect(await readdir(join(home, 'parked'))).toEqual([])
  })

  it('put aside for a process that is gone are removed by whoever comes next', async () => {
    await mkdir(join(home, 'parked/s_1.999999.1/0f'), { recursive: true })
    const living = await guard(home, root)
    await living.settle({ keeps: true })
    await sweepGuards(home, testPaths)
    expect(await readdir(join(home, 'parked'))).toHaveLength(1)
    expect((await readdir(join(home, 'parked')))[0]).not.toContain('999999')
  })
})
