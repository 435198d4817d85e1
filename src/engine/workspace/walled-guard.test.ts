import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWalledWorld, starters, type WalledWorld } from '../../../test/contracts/walled-world.ts'
import { sessionGitConfig } from './git.ts'
import { git, guard, repository } from './testing.ts'

describe.each(starters)('a guarded workspace behind the real walls of %s', (starter) => {
  let world: WalledWorld
  let home: string
  beforeEach(async () => {
    world = createWalledWorld(starter)
    home = join(world.folder, 'pawl-home')
    mkdirSync(home, { mode: 0o755 })
    await repository(world.workspace, {
      'a.txt': 'a',
      '.agent/settings.json': '{}',
      '.vscode/settings.json': '{}',
      'RULES.md': 'x',
    })
    execFileSync('chown', ['-R', '--reference', world.workspace, join(world.workspace, '.')])
    world.file('home/.gitconfig', await sessionGitConfig('/nonexistent', world.workspace))
  })
  afterEach(() => world.remove())

  it('lets the agent commit, branch and add worktrees, and neither obey nor change what is code', async () => {
    const { uid, gid } = statSync(world.workspace)
    const guarded = await guard(home, world.workspace, {
      profile: { instructions: false, trusted: [] },
      user: { uid, gid },
    })
    // As a plain user Pawl's own files are that user's, and readable.
    if (starter !== 'root')
      for (const folder of ['git', 'git/s_1', 'git/s_1/run_1', 'git/s_1/run_1/0']) chmodSync(join(home, folder), 0o755)
    const script = `set -e
git status --porcelain; echo b > b.txt; git add -A; git commit -qam second; git checkout -qb other; git worktree add -q wt; git log --oneline | wc -l; ls -A .agent
set +e
for f in .agent/x .vscode/x .git/borrowed/objects/x .husky/x RULES.md; do echo evil > $f && echo wrote $f; done
for f in .agent .vscode .git .git/borrowed .husky; do mv $f moved && echo moved $f; rm -rf moved; done
mkdir -p sub/.vscode && echo evil > sub/.vscode/tasks.json
git config core.fsmonitor evil; echo evil > .git/hooks/pre-commit; echo /tmp > .git/commondir; true`
    const { out, err, code } = await world.run(script, { masks: guarded.masks, mounts: guarded.mounts })
    expect({ out: out.trim(), code }, err).toEqual({ out: '2', code: 0 })
    const settled = await guarded.settle()
    expect(settled.quarantined).toEqual(['sub/.vscode'])
    expect(settled.sentence).not.toContain('Not everything')
    expect(git(world.workspace, 'show', '--name-status', '--format=', 'main')).toBe('A\tb.txt\n')
    expect((await readdir(world.workspace)).toSorted()).toEqual([
      '.agent',
      '.git',
      '.vscode',
      'RULES.md',
      'a.txt',
      'b.txt',
      'sub',
      'wt',
    ])
    expect(readFileSync(join(world.workspace, '.git/config'), 'utf8')).not.toContain('evil')
    expect(existsSync(join(world.workspace, '.vscode/x'))).toBe(false)
    for (const name of ['HEAD', 'index', 'refs/heads/main', 'objects/pack'])
      expect(statSync(join(world.workspace, '.git', name))).toMatchObject({ uid, gid })
  })
})
