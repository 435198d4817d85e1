import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, link, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { armFailpoint } from '../../../base/failpoint.ts'
import { type GuardRecord, recordFile } from '../guard-record.ts'
import { sweepGuards } from '../settle-guard.ts'
import { git, guard, inside, put, repository, testPaths } from '../testing.ts'

let base: string
let root: string
let home: string
let canary: string
const at = (path: string) => join(root, path)

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'pawl-own-git-'))
  root = join(base, 'ws')
  home = join(base, 'home')
  canary = join(base, 'canary')
  await mkdir(home)
})
afterEach(() => rm(base, { recursive: true, force: true }))

const dated = 'export GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z" GIT_EDITOR=true; '

/** All that the owner sees of a repository. */
const seen = (folder: string) => ({
  status: git(folder, 'status', '--porcelain=v2', '--branch', '--ignore-submodules=none'),
  refs: git(folder, 'for-each-ref'),
  log: git(folder, 'log', '--all', '--format=%H %s', '--date-order'),
  stash: git(folder, 'stash', 'list'),
  reflog: git(folder, 'reflog', '--format=%H %gs'),
  index: git(folder, 'ls-files', '-s', '-t'),
})

/** Does the same once with bare git and once as an agent, and holds what the owner sees afterwards against each other. */
async function likeBareGit(script: string, setUp: () => Promise<void> = async () => undefined): Promise<void> {
  await repository(root, { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
  await setUp()
  await cp(root, join(base, 'bare'), { recursive: true, preserveTimestamps: true })
  const bare = join(base, 'kept')
  await rename(root, join(base, 'agents'))
  await rename(join(base, 'bare'), root)
  execFileSync('sh', ['-ec', dated + script], { cwd: root, env: ownEnv(), stdio: 'pipe' })
  await rename(root, bare)
  await rename(join(base, 'agents'), root)
  const guarded = await guard(home, root)
  const worked = await inside(guarded, root, `set -e; ${dated}${script}`)
  expect(worked).toMatchObject({ code: 0 })
  const settled = await guarded.settle()
  expect(settled.sentence).toBeUndefined()
  const agents = seen(root)
  await rename(root, join(base, 'agents'))
  await rename(bare, root)
  expect(agents).toEqual(seen(root))
  await rename(root, bare)
  await rename(join(base, 'agents'), root)
  expect(fsck(root)).toBe('')
}

const ownEnv = () => ({
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
})
const fsck = (folder: string) => git(folder, 'fsck', '--full', '--strict', '--no-dangling')

describe('what an agent does with its own git arrives as if it had been done with bare git:', () => {
  const cases: Readonly<Record<string, string>> = {
    commit: 'echo c > c.txt; git add -A; git commit -qm second; echo d >> c.txt; git commit -qam third',
    'what is only staged': 'echo c > c.txt; git add c.txt; git rm -q a.txt; git mv dir/b.txt dir/c.txt; git add -N . ',
    amend: 'echo c >> a.txt; git commit -qa --amend -m other',
    branch:
      'git branch one; git checkout -qb two; echo c > c; git add c; git commit -qm c; git branch -m one three; git branch -D three',
    'a branch in the place of another':
      'git branch x; git branch -D x; git branch x/y; git pack-refs --all; git branch -D x/y; git branch x',
    checkout:
      'git checkout -qb side; echo s > s; git add s; git commit -qm s; git checkout -q main; git checkout -q --detach side',
    merge:
      'git checkout -qb side; echo s > s; git add s; git commit -qm s; git checkout -q main; echo m > m; git add m; git commit -qm m; git merge -q --no-ff -m merged side',
    'a merge that stopped':
      'git checkout -qb side; echo s > a.txt; git commit -qam s; git checkout -q main; echo m > a.txt; git commit -qam m; git merge -q side || true',
    rebase:
      'git checkout -qb side; echo s > s; git add s; git commit -qm s; git checkout -q main; echo m > m; git add m; git commit -qm m; git checkout -q side; git rebase -q main',
    'cherry-pick and revert':
      'git checkout -qb side; echo s > s; git add s; git commit -qm s; git checkout -q main; git cherry-pick side; git revert --no-edit HEAD',
    stash:
      'echo 1 >> a.txt; git stash -q; echo 2 >> a.txt; git stash push -qm two; echo 3 >> a.txt; git stash -q; git stash drop -q stash@{1}; git stash pop -q',
    bisect:
      'for n in 1 2 3 4; do echo $n >> a.txt; git commit -qam $n; done; git bisect start HEAD HEAD~4 > /dev/null 2>&1; git bisect run sh -c "! grep -q 3 a.txt" > /dev/null; git bisect reset > /dev/null 2>&1',
    gc: 'for n in 1 2 3 4; do echo $n >> a.txt; git commit -qam $n; done; git gc -q; echo 5 >> a.txt; git commit -qam 5; git gc -q --prune=now; git fsck',
    tags: 'git tag light; git tag -am annotated heavy; git tag -d light; echo x > x; git add x; git commit -qm x; git tag -am again -f heavy; git tag other',
    reset:
      'echo c > c; git add c; git commit -qm c; git reset -q --soft HEAD~1; git reset -q --hard; echo d > d; git add d; git reset -q',
    'notes, remotes and odd references':
      'git notes add -m note; git update-ref refs/remotes/up/main HEAD; git symbolic-ref refs/remotes/up/HEAD refs/remotes/up/main; git update-ref refs/other/thing HEAD',
    'a rename of the branch it is on': 'git branch -m main trunk; echo c > c; git add c; git commit -qm c',
    'flags of the index':
      'git update-index --assume-unchanged a.txt; git update-index --skip-worktree dir/b.txt; git update-index --chmod=+x a.txt',
    'a branch without history': 'git checkout -q --orphan new; git rm -rqf .; echo n > n; git add n; git commit -qm n',
    reflog: 'echo c > c; git add c; git commit -qm c; git reset -q --hard HEAD@{1}; git reset -q --hard HEAD@{1}',
  }
  it.each(Object.entries(cases))('%s', async (_, script) => {
    await likeBareGit(script)
  })

  it('a stash that was there before is taken out, and what was put away before it stays', async () => {
    await likeBareGit('git stash drop -q stash@{1}; echo c >> a.txt; git stash -q; git stash drop -q stash@{1}', async () => {
      for (const word of ['one', 'two', 'three']) {
        await writeFile(at('a.txt'), word)
        git(root, 'stash', 'push', '-qm', word)
      }
    })
  })

  it('a merge of the owner that is under way is ended', async () => {
    await likeBareGit('git checkout -q --theirs a.txt; git add a.txt; git commit -qm merged', async () => {
      git(root, 'checkout', '-qb', 'side')
      await writeFile(at('a.txt'), 's')
      git(root, 'commit', '-qam', 's')
      git(root, 'checkout', '-q', 'main')
      await writeFile(at('a.txt'), 'm')
      git(root, 'commit', '-qam', 'm')
      expect(() => git(root, 'merge', 'side')).toThrow()
    })
  })

  it('worktrees, those that are new and those that were there', async () => {
    await repository(root, { 'a.txt': 'a\n' })
    git(root, 'worktree', 'add', '-q', 'old')
    const guarded = await guard(home, root)
    const script = `${dated} set -e; git worktree add -q new; for w in old new; do (cd $w; echo $w > $w; git add $w; git commit -qm $w; echo more >> $w); done; git worktree list | wc -l`
    expect(await inside(guarded, root, script)).toEqual({ code: 0, out: '3\n' })
    expect(await guarded.settle()).toMatchObject({ quarantined: [], sentence: undefined })
    for (const name of ['old', 'new']) {
      expect(git(at(name), 'log', '--format=%s')).toBe(`${name}\nfirst\n`)
      expect(git(at(name), 'status', '--porcelain')).toBe(` M ${name}\n`)
      expect(git(at(name), 'symbolic-ref', 'HEAD').trim()).toBe(`refs/heads/${name}`)
    }
    expect(git(root, 'worktree', 'list').trim().split('\n').length).toBe(3)
    expect(fsck(root)).toBe('')
  })

  it('submodules: commits in them, and what the repository says of them', async () => {
    await repository(join(base, 'lib'), { 'x.txt': 'x' })
    await repository(root, { 'a.txt': 'a' })
    git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', join(base, 'lib'), 'libs/lib')
    git(root, 'commit', '-qm', 'second')
    const guarded = await guard(home, root)
    const script =
      'set -e; cd libs/lib; git checkout -qb mine; echo y > y; git add y; git commit -qm y; cd ../..; git commit -qam third; git submodule status'
    const { code, out } = await inside(guarded, root, script)
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('libs/lib (heads/mine)') })
    expect(await guarded.settle()).toMatchObject({ quarantined: [], sentence: undefined })
    expect(git(root, 'status', '--porcelain')).toBe('')
    expect(git(at('libs/lib'), 'log', '--format=%s', 'mine')).toBe('y\nfirst\n')
    expect(fsck(root) + fsck(at('libs/lib'))).toBe('')
  })

  it('a shallow clone and a sparse checkout', async () => {
    await repository(join(base, 'up'), { 'a.txt': 'a', 'in/b.txt': 'b', 'out/c.txt': 'c' })
    for (const n of [1, 2, 3]) git(join(base, 'up'), 'commit', '-q', '--allow-empty', '-m', `${n}`)
    git(base, 'clone', '-q', '--depth', '1', `file://${base}/up`, root)
    git(root, 'sparse-checkout', 'set', 'in')
    const guarded = await guard(home, root)
    const { code, out } = await inside(
      guarded,
      root,
      'set -e; ls; echo d > in/d.txt; git add -A; git commit -qm mine; git log --oneline | wc -l',
    )
    expect({ code, out }).toEqual({ code: 0, out: 'a.txt\nin\n2\n' })
    expect((await guarded.settle()).sentence).toBeUndefined()
    expect(git(root, 'log', '--format=%s')).toBe('mine\n3\n')
    expect(git(root, 'status', '--porcelain')).toBe('')
    expect(git(root, 'ls-files', '-t')).toContain('S out/c.txt')
    expect(fsck(root)).toBe('')
  })

  it('large files by their digest, and none that is not what it is called', async () => {
    await repository(root, { 'a.txt': 'a' })
    await put(root, { '.git/lfs/objects/aa/bb/old': 'old' })
    const id = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
    const guarded = await guard(home, root)
    const script = `set -e; ls .git/borrowed/lfs/objects/aa/bb; mkdir -p .git/lfs/objects/2c/26 .git/lfs/objects/11/22; printf foo > .git/lfs/objects/2c/26/${id}; printf evil > .git/lfs/objects/11/22/${'1122'.padEnd(64, '0')}`
    expect((await inside(guarded, root, script)).out).toBe('old\n')
    await guarded.settle()
    expect(readFileSync(at(`.git/lfs/objects/2c/26/${id}`), 'utf8')).toBe('foo')
    expect(existsSync(at('.git/lfs/objects/11'))).toBe(false)
  })

  it('in a repository with sha256', async () => {
    await mkdir(root)
    git(root, 'init', '-q', '-b', 'main', '--object-format=sha256')
    await put(root, { 'a.txt': 'a' })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'first')
    const guarded = await guard(home, root)
    expect(await inside(guarded, root, 'echo b > b; git add b; git commit -qm second')).toEqual({ code: 0, out: '' })
    expect((await guarded.settle()).sentence).toBeUndefined()
    expect(git(root, 'log', '--format=%s')).toBe('second\nfirst\n')
    expect(git(root, 'status', '--porcelain') + fsck(root)).toBe('')
  })

  it('a repository that was made where there was none', async () => {
    await put(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    const script = `${dated} git init -q -b trunk; git add -A; git commit -qm first; git tag v1; git config core.fsmonitor "touch ${canary}"; printf "#!/bin/sh\\ntouch ${canary}" > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change`
    expect(await inside(guarded, root, script)).toMatchObject({ code: 0 })
    expect((await guarded.settle()).sentence).toBeUndefined()
    expect(git(root, 'log', '--format=%s %D')).toBe('first HEAD -> trunk, tag: v1\n')
    expect(git(root, 'status', '--porcelain') + fsck(root)).toBe('')
    expect(existsSync(canary)).toBe(false)
    expect(readdirSync(root).toSorted()).toEqual(['.git', 'a.txt'])
  })
})

/** What an editor does every few seconds, and what its user does after the run. */
function owner(folder = root): string {
  const said = ['status', 'log', 'fsck', 'diff'].map((verb) => git(folder, verb))
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'of the owner')
  return said.join('')
}

/** Everything that has git run a command, as soon as it is somewhere in a git directory. */
const evil = (run: string) => `
plant() { mkdir -p $1/hooks $1/info $1/objects/info $1/rebase-merge $1/worktrees/x $1/modules/x $1/sequencer
for h in pre-commit post-commit post-index-change reference-transaction post-checkout; do printf '#!/bin/sh\\n${run}\\n' > $1/hooks/$h; chmod +x $1/hooks/$h; done
printf '[core]\\n\\tfsmonitor = ${run}\\n\\thooksPath = ${base}/hooks\\n[alias]\\n\\tx = !${run}\\n[filter "x"]\\n\\tclean = ${run}\\n[diff]\\n\\texternal = ${run}\\n' | tee -a $1/config $1/config.worktree $1/modules/x/config > /dev/null
echo '* filter=x diff=x' > $1/info/attributes
echo /etc > $1/objects/info/alternates
echo 'exec ${run}' > $1/rebase-merge/git-rebase-todo; echo refs/heads/main > $1/rebase-merge/head-name
echo ../../../planted > $1/worktrees/x/commondir; echo ../planted > $1/commondir; mkdir -p planted; printf '[core]\\n\\tfsmonitor = ${run}\\n' > planted/config
}
`

describe('while an agent works, and after it', () => {
  it.each(['removed before the end', 'left there'])(
    'git of the owner runs nothing that was planted in .git and %s',
    async (how) => {
      await repository(root, { 'a.txt': 'a', '.gitattributes': '* filter=x\n' })
      const guarded = await guard(home, root)
      await inside(guarded, root, `${evil(`touch ${canary}`)} plant .git; git replace -f HEAD^{tree} HEAD^{tree}; true`)
      expect(existsSync(canary)).toBe(false)
      expect(owner()).toMatch(/nothing (added )?to commit/)
      expect(existsSync(canary)).toBe(false)
      if (how !== 'left there')
        await inside(guarded, root, 'rm -rf .git/commondir .git/rebase-merge .git/hooks .git/config* planted')
      await guarded.settle()
      await rm(canary, { force: true })
      owner()
      expect(existsSync(canary)).toBe(false)
      for (const name of ['commondir', 'rebase-merge', 'config.worktree', 'info/attributes', 'modules', 'worktrees'])
        expect(existsSync(at(`.git/${name}`))).toBe(false)
      expect(git(root, 'config', '--list', '--local')).not.toContain('fsmonitor')
    },
  )

  it('git of the owner goes into no repository that is made where a submodule belongs', async () => {
    await repository(join(base, 'lib'), { 'x.txt': 'x' })
    await repository(root, { 'a.txt': 'a' })
    for (const name of ['one', 'deep/two'])
      git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', join(base, 'lib'), name)
    git(root, 'commit', '-qm', 'second')
    git(root, 'submodule', 'deinit', '-q', '--all', '-f')
    await rm(at('deep'), { recursive: true })
    const guarded = await guard(home, root)
    const script = `for d in one deep/two; do mkdir -p $d; git init -q $d; git -C $d commit -q --allow-empty -m x; git -C $d config core.fsmonitor 'touch ${canary}'; done; mv one two; git init -q one; git -C one config core.fsmonitor 'touch ${canary}'; true`
    await inside(guarded, root, script)
    await rm(canary, { force: true })
    git(root, 'status')
    expect(existsSync(canary)).toBe(false)
    expect((await guarded.settle()).sentence).toBeUndefined()
    git(root, 'status')
    expect(existsSync(canary)).toBe(false)
    expect(readdirSync(root).toSorted()).toEqual(['.git', '.gitmodules', 'a.txt', 'one'])
  })

  it('nor does it later, whether the submodule came first or its repository', async () => {
    await repository(root, { 'a.txt': 'a' })
    const planted = `git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor 'touch ${canary}'`
    const linked = 'git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm sub'
    const first = await guard(home, root)
    await inside(first, root, `${planted}; ${linked}`)
    const settled = await first.settle()
    expect(settled.sentence).toContain('New submodules were not brought back, because git would go into them: sub.')
    await rm(canary, { force: true })
    git(root, 'status')
    git(root, 'reset', '-q', '--hard')
    // From here on the owner has taken the submodule up, without looking.
    const second = await guard(home, root, { run: 'run_2' })
    await inside(second, root, `git -C sub config core.fsmonitor 'touch ${canary}'; rm -rf sub; ${planted}`)
    await rm(canary, { force: true })
    git(root, 'status')
    expect(existsSync(canary)).toBe(false)
    await second.settle()
    git(root, 'status')
    expect(existsSync(canary)).toBe(false)
  })

  it('nothing of a repository that was there before can be reached, wherever it lies', async () => {
    await repository(root, { 'a.txt': 'a', '.gitignore': 'in/\n' })
    await repository(at('in/side'), { 'x.txt': 'x' })
    const guarded = await guard(home, root)
    const script = `${evil(`touch ${canary}`)} (cd in/side; echo y > y; git add y; git commit -qm y); plant in/side/.git; mv in other; ls -A .git/borrowed .git/borrowed/objects/; touch .git/borrowed/objects/x || echo held`
    const { out } = await inside(guarded, root, script)
    expect(out).toContain('held')
    await rm(canary, { force: true })
    git(at('in/side'), 'status')
    expect(existsSync(canary)).toBe(false)
    await guarded.settle()
    expect(git(at('in/side'), 'log', '--format=%s')).toBe('y\nfirst\n')
    expect(fsck(at('in/side'))).toBe('')
    expect(existsSync(canary)).toBe(false)
  })

  it('removed inside, a repository is still there outside', async () => {
    await repository(root, { 'a.txt': 'a', '.gitignore': 'in/\n' })
    await repository(at('in/side'), { 'x.txt': 'x' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'rm -rf in; rm -rf .git; true')
    expect((await guarded.settle()).sentence).toContain('was removed inside; the real one is as it was')
    for (const folder of [root, at('in/side')]) expect(git(folder, 'log', '--format=%s')).toBe('first\n')
    expect(readdirSync(at('in/side'))).toEqual(['.git'])
  })

  it('where there was no repository, none is seen before the run has ended, and none is left that is none', async () => {
    await put(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, `git init -q; git config core.fsmonitor "touch ${canary}"`)
    expect(() => git(root, 'status')).toThrow('not a git repository')
    expect(existsSync(canary)).toBe(false)
    await inside(guarded, root, 'rm -rf .git/*')
    await guarded.settle()
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it('in a folder of a repository, which lies above, its git is the one that the owner sees', async () => {
    await repository(root, { 'sub/a.txt': 'a' })
    const guarded = await guard(home, at('sub'))
    await inside(guarded, at('sub'), `git init -q; git config core.fsmonitor "touch ${canary}"; echo b > b`)
    expect(git(at('sub'), 'status', '--porcelain')).toBe('?? sub/b\n')
    await inside(guarded, at('sub'), 'rm -rf .git/*')
    await guarded.settle()
    expect(git(at('sub'), 'status', '--porcelain')).toBe('?? sub/b\n')
    expect(existsSync(canary)).toBe(false)
  })
})

describe('of what is hostile nothing comes into the repository:', () => {
  const attack = async (script: string) => {
    await repository(root, { 'a.txt': 'a' })
    const before = seen(root)
    const guarded = await guard(home, root)
    await inside(guarded, root, script)
    const { sentence } = await guarded.settle()
    return { before, sentence }
  }

  it('a tree that has a .git in it', async () => {
    const script = `blob=$(echo evil | git hash-object -w --stdin); in=$(printf "100644 blob $blob\\tconfig\\n" | git mktree); tree=$(printf "040000 tree $in\\t.git\\n" | git mktree); git update-ref refs/heads/main $(git commit-tree -m x $tree)`
    const { before, sentence } = await attack(script)
    expect(sentence).toMatch(/git refuses the objects: .*hasDotgit/)
    expect(seen(root)).toEqual(before)
    expect(readdirSync(at('.git/objects/pack'))).toEqual([])
  })

  it('an object that is not what it is called', async () => {
    const script = `echo one > b; git add b; git commit -qm b; o=$(git rev-parse HEAD:b); other=$(echo two | git hash-object -w --stdin); f() { echo .git/objects/$(echo $1 | sed 's/../&\\//'); }; cp -f $(f $other) $(f $o)`
    const { before, sentence } = await attack(script)
    expect(sentence).toContain('git refuses the objects')
    expect(seen(root).refs).toEqual(before.refs)
    expect(fsck(root)).toBe('')
  })

  it('references that lead out, have odd names or no object, and links in the place of files', async () => {
    const secret = join(base, 'secret')
    await writeFile(secret, `${'a'.repeat(40)}\n`)
    const script = `h=$(git rev-parse HEAD); echo ${'b'.repeat(40)} > .git/refs/heads/missing; ln -s ${secret} .git/refs/heads/linked; echo "ref: ../../secret" > .git/refs/heads/out; echo $h > .git/refs/heads/-x; echo $h > '.git/refs/heads/a b'; echo $h > .git/refs/heads/x.lock; mkdir .git/refs/pawl; echo $h > .git/refs/pawl/y; ln -s /etc .git/refs/tags/etc; rm .git/logs/HEAD; ln -s ${secret} .git/logs/HEAD; ln -s ${secret} .git/MERGE_MSG; printf 'evil' >> .git/logs/refs/heads/main; git tag fine`
    const { sentence } = await attack(script)
    expect(sentence).toContain('refs/heads/missing was not brought back: its object is missing.')
    expect(git(root, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\nrefs/tags/fine\n')
    expect(readFileSync(secret, 'utf8')).toBe(`${'a'.repeat(40)}\n`)
    expect(existsSync(at('.git/MERGE_MSG'))).toBe(false)
    expect(fsck(root)).toBe('')
  })

  it('objects of others that a link or a list leads to', async () => {
    await repository(join(base, 'private'), { 'secret.txt': 'secret' })
    const commit = git(join(base, 'private'), 'rev-parse', 'HEAD').trim()
    const theirs = join(base, 'private/.git/objects')
    const script = `echo ${theirs} >> .git/objects/info/alternates; for d in ${theirs}/??; do ln -s $d .git/objects/; done; echo ${commit} > .git/refs/heads/stolen`
    const { sentence } = await attack(script)
    expect(sentence).toContain('refs/heads/stolen was not brought back: its object is missing.')
    expect(() => git(root, 'cat-file', '-e', commit)).toThrow()
  })

  it('an index that names what is not there, or a HEAD that is none', async () => {
    const { before } = await attack(`git update-index --index-info <<END
100644 ${'c'.repeat(40)}\tghost
END
`)
    expect(seen(root)).toEqual(before)
    const other = await guard(home, root, { run: 'run_2' })
    await inside(other, root, 'echo "ref: refs/tags/x" > .git/HEAD; rm .git/index; ln -s /etc/passwd .git/index')
    expect((await other.settle()).sentence).toContain('is not plain')
    expect(seen(root)).toEqual(before)
  })

  it('a rebase that is under way, whose plan may hold commands', async () => {
    const script = `git checkout -qb side; echo s > a.txt; git commit -qam s; git checkout -q main; echo m > a.txt; git commit -qam m; git rebase -q side; echo "exec touch ${canary}" >> .git/rebase-merge/git-rebase-todo`
    const { sentence } = await attack(script)
    expect(sentence).toContain('a rebase was under way')
    expect(existsSync(at('.git/rebase-merge'))).toBe(false)
    expect(git(root, 'status')).toContain('HEAD detached')
    git(root, 'checkout', '-qf', 'main')
    expect(git(root, 'log', '--format=%s', 'main')).toBe('m\nfirst\n')
  })
})

describe('what the owner does meanwhile stays', () => {
  it('on the same branch: the commits of the agent are kept beside', async () => {
    await repository(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo b > b; git add b; git commit -qm agent; git tag mine')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'owner')
    const { sentence } = await guarded.settle()
    expect(sentence).toContain(
      "refs/heads/main was not moved, because somebody else moved it meanwhile: the agent's is refs/pawl/run_1/heads/main.",
    )
    expect(git(root, 'log', '--format=%s', 'main')).toBe('owner\nfirst\n')
    expect(git(root, 'log', '--format=%s', 'refs/pawl/run_1/heads/main')).toBe('agent\nfirst\n')
    expect(git(root, 'rev-parse', 'mine')).toBe(git(root, 'rev-parse', 'refs/pawl/run_1/heads/main'))
    expect(git(root, 'status', '--porcelain')).toBe('?? b\n')
    expect(fsck(root)).toBe('')
  })

  it('on another branch, in another file, in settings and with an editor that looks all the time', async () => {
    await repository(root, { 'a.txt': 'a', 'b.txt': 'b' })
    git(root, 'branch', 'other')
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo c > c; git add c; git commit -qm agent')
    await writeFile(at('b.txt'), 'changed')
    git(root, 'add', 'b.txt')
    git(root, 'update-ref', 'refs/heads/other', git(root, 'commit-tree', '-m', 'x', 'HEAD^{tree}').trim())
    git(root, 'remote', 'add', 'origin', 'https://example.com')
    git(root, 'status')
    expect((await guarded.settle()).sentence).toBeUndefined()
    expect(git(root, 'log', '--format=%s', 'main')).toBe('agent\nfirst\n')
    expect(git(root, 'log', '--format=%s', 'other')).toBe('x\n')
    expect(git(root, 'status', '--porcelain')).toBe('M  b.txt\n')
  })

  it('in the same file that both have staged: the index stays, and with it the branch', async () => {
    await repository(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo agent > a.txt; git commit -qam agent')
    await writeFile(at('a.txt'), 'owner')
    git(root, 'add', 'a.txt')
    expect((await guarded.settle()).sentence).toContain('something else was staged meanwhile (a.txt)')
    expect(git(root, 'log', '--format=%s')).toBe('first\n')
    expect(git(root, 'show', ':a.txt')).toBe('owner')
    expect(git(root, 'log', '--format=%s', 'refs/pawl/run_1/heads/main')).toBe('agent\nfirst\n')
  })

  it('with another branch checked out: it stays so, and the branches of the agent arrive', async () => {
    await repository(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'git checkout -qb agents; git commit -q --allow-empty -m agent; git checkout -q --detach')
    git(root, 'checkout', '-qb', 'owners')
    expect((await guarded.settle()).sentence).toContain('another branch was checked out meanwhile')
    expect(git(root, 'symbolic-ref', 'HEAD').trim()).toBe('refs/heads/owners')
    expect(git(root, 'log', '--format=%s', 'agents')).toBe('agent\nfirst\n')
    expect(git(root, 'rev-parse', 'refs/pawl/run_1/HEAD')).toBe(git(root, 'rev-parse', 'agents'))
  })

  it('in a worktree elsewhere: its branch is not moved under it', async () => {
    await repository(root, { 'a.txt': 'a' })
    git(root, 'worktree', 'add', '-q', join(base, 'elsewhere'))
    const guarded = await guard(home, root)
    const { code } = await inside(guarded, root, 'git checkout -q elsewhere')
    expect(code).not.toBe(0)
    await inside(guarded, root, 'git update-ref refs/heads/elsewhere $(git commit-tree -m x HEAD^{tree})')
    expect((await guarded.settle()).sentence).toContain('another worktree is on it')
    expect(git(join(base, 'elsewhere'), 'status', '--porcelain')).toBe('')
  })
})

describe('after a crash', () => {
  const points = ['git.objects', 'git.refs', 'git.index', 'git.head', 'git.trees']
  const forgetOwner = async (file: string) => {
    const record = JSON.parse(readFileSync(file, 'utf8')) as GuardRecord
    await writeFile(file, JSON.stringify({ ...record, owner: { ...record.owner, pid: 2 ** 22 - 1, startTime: 1 } }))
  }
  it.each(['before', ...points])('at "%s" all that the agent committed arrives', async (point) => {
    await repository(root, { 'a.txt': 'a', 'b.txt': 'b' })
    await writeFile(at('b.txt'), 'stashed')
    git(root, 'stash')
    const guarded = await guard(home, root)
    const script = `${dated}git checkout -qb side; echo c > c; git add c; git commit -qm agent; git stash pop -q; echo d > d; git add d; git tag -am t t; git branch -D main`
    expect(await inside(guarded, root, script)).toMatchObject({ code: 0 })
    const file = recordFile(home, root, 'run_1')
    const record = readFileSync(file)
    if (point !== 'before') {
      armFailpoint(point, () => {
        throw new Error('cut off')
      })
      expect((await guarded.settle()).sentence).toContain('cut off')
      // As a process leaves it that is killed there.
      await writeFile(file, record)
    }
    await forgetOwner(file)
    expect(await sweepGuards(home, testPaths)).toMatchObject([{ run: 'run_1', quarantined: [], sentence: undefined }])
    expect(git(root, 'status', '--porcelain')).toBe(' M b.txt\nA  d\n')
    expect(git(root, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/side\nrefs/tags/t\n')
    expect(git(root, 'log', '--format=%s')).toBe('agent\nfirst\n')
    expect(git(root, 'reflog', '--format=%gs')).toBe(
      'commit: agent\ncheckout: moving from main to side\nreset: moving to HEAD\ncommit (initial): first\n',
    )
    expect(fsck(root)).toBe('')
  })

  it.each(['git.refs', 'git.trees'])('at "%s" a repository that is new is there as a whole', async (point) => {
    await put(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'git init -q -b main; git add -A; git commit -qm first')
    const file = recordFile(home, root, 'run_1')
    const record = readFileSync(file)
    armFailpoint(point, () => {
      throw new Error('cut off')
    })
    await guarded.settle()
    await writeFile(file, record)
    await forgetOwner(file)
    await sweepGuards(home, testPaths)
    expect(git(root, 'log', '--format=%s') + git(root, 'status', '--porcelain') + fsck(root)).toBe('first\n')
  })

  it('a lock that we have left does not hold anybody up', async () => {
    await repository(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo b > b; git add b; git commit -qm agent')
    const commit = readFileSync(join(home, 'git/s_1/run_1/0/git/refs/heads/main'))
    await writeFile(at('.git/refs/heads/main.lock'), commit)
    expect((await guarded.settle()).sentence).toBeUndefined()
    expect(git(root, 'log', '--format=%s')).toBe('agent\nfirst\n')
  })

  it('a lock that a killed process left is released, also where its owner has gone on meanwhile, and one of somebody else stays', async () => {
    await repository(root, { 'a.txt': 'a' })
    git(root, 'branch', 'other')
    const guarded = await guard(home, root)
    await inside(guarded, root, 'git checkout -q other; echo b > b; git add b; git commit -qm agent')
    git(root, 'branch', '-f', 'other', git(root, 'commit-tree', '-m', 'owner', '-p', 'main', 'main^{tree}').trim())
    const dead = `.pawl-new.${2 ** 22 - 1}-1-1.tmp`
    await writeFile(at(`.git/refs/heads/${dead}`), readFileSync(join(home, 'git/s_1/run_1/0/git/refs/heads/other')))
    await link(at(`.git/refs/heads/${dead}`), at('.git/refs/heads/other.lock'))
    await writeFile(at('.git/refs/heads/users.lock'), '')
    await forgetOwner(recordFile(home, root, 'run_1'))
    await sweepGuards(home, testPaths)
    expect(readdirSync(at('.git/refs/heads')).toSorted()).toEqual(['main', 'other', 'users.lock'])
    expect(git(root, 'log', '--format=%s', 'other')).toBe('owner\nfirst\n')
    expect(git(root, 'log', '--format=%s', 'refs/pawl/run_1/heads/other')).toBe('agent\nfirst\n')
  })

  it('a lock of somebody else is waited for, and told', async () => {
    await repository(root, { 'a.txt': 'a' })
    const guarded = await guard(home, root)
    await inside(guarded, root, 'echo b > b; git add b; git commit -qm agent')
    await writeFile(at('.git/index.lock'), '')
    expect((await guarded.settle()).sentence).toContain('another git holds index.lock')
    await rm(at('.git/index.lock'))
    await forgetOwner(recordFile(home, root, 'run_1'))
    await sweepGuards(home, testPaths)
    expect(git(root, 'log', '--format=%s') + git(root, 'status', '--porcelain')).toBe('agent\nfirst\n')
  })
})

describe('the next run of a session', () => {
  const next = (run: string) => guard(home, root, { session: 'ses_1', run, records: join(home, 'runs', run) })

  it('goes on with the same git directory while nothing else has changed, and with another one as soon as something has', async () => {
    await repository(root, { 'a.txt': 'a' })
    const first = await next('run_1')
    await inside(first, root, 'echo b > b; git add b; git commit -qm one; git config user.name Ada')
    await first.settle()
    git(root, 'status')
    const second = await next('run_2')
    expect(second.likeness).toBe(first.likeness)
    expect((await inside(second, root, 'git config user.name; echo c > c; git add c; git commit -qm two; git gc -q')).out).toBe(
      'Ada\n',
    )
    await second.settle()
    expect(git(root, 'log', '--format=%s')).toBe('two\none\nfirst\n')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'of the owner')
    const third = await next('run_3')
    expect(third.likeness).not.toBe(first.likeness)
    expect((await inside(third, root, 'git log --format=%s -1; git status --porcelain')).out).toBe('of the owner\n')
    await third.settle()
    expect(fsck(root)).toBe('')
    await third.drop()
    expect(existsSync(join(home, 'git/ses_1'))).toBe(false)
  })

  it('does not go on with one of which something could not be brought back', async () => {
    await repository(root, { 'a.txt': 'a' })
    const first = await next('run_1')
    await inside(first, root, 'git commit -q --allow-empty -m agent')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'owner')
    await first.settle()
    const second = await next('run_2')
    expect(second.likeness).not.toBe(first.likeness)
    expect((await inside(second, root, 'git log --format=%s')).out).toBe('owner\nfirst\n')
    await second.settle()
  })
})

describe('a repository that is kept in a way that we do not read', () => {
  it('is not reached at all, and that is told', async () => {
    await repository(root, { 'a.txt': 'a' })
    git(root, 'update-index', '--split-index')
    const guarded = await guard(home, root)
    expect(guarded.notes.join()).toContain('its index is split')
    const { out } = await inside(guarded, root, 'git status; ls -A .git; echo evil > .git/commondir')
    expect(out).toContain('not a git repository')
    await guarded.settle()
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})
