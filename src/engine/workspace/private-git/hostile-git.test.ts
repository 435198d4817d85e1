import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markOf } from '../../../sandbox/port.ts'
import { guard, inside, put, repository } from '../testing.ts'

/** Came with a folder that somebody was sent, or was put there by an agent that works around it and is not done yet. */
describe('a git directory that somebody else made shows an agent nothing of the rest of the machine:', () => {
  let base: string
  let root: string
  const git = (path: string) => join(root, '.git', path)
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-hostile-git-'))
    root = join(base, 'ws')
    await repository(root, { 'a.txt': 'a\n' })
    await put(join(base, 'secret'), { main: 'canary', HEAD: 'canary', 'refs/heads/main': 'canary', 'objects/key': 'canary' })
  })
  afterEach(() => rm(base, { recursive: true, force: true }))
  const work = async (script: string) => {
    const guarded = await guard(join(base, 'home'), root)
    const worked = await inside(guarded, root, script)
    await guarded.settle()
    return worked.out
  }

  it.each(['logs', 'logs/refs', 'logs/refs/heads', 'logs/refs/heads/main', 'logs/HEAD'])('%s is a link', async (path) => {
    await rm(git(path), { recursive: true })
    await symlink(join(base, 'secret', path === 'logs/refs/heads/main' ? 'main' : path === 'logs/refs' ? 'refs' : ''), git(path))
    expect(await work('cat .git/logs/HEAD .git/logs/refs/heads/main; git status --porcelain')).not.toContain('canary')
  })

  it('a log is a pipe that nobody writes to', async () => {
    await rm(git('logs/HEAD'))
    execFileSync('mkfifo', [git('logs/HEAD')])
    expect(await work('git log --format=%s')).toBe('first\n')
  })

  it('the folder of large files is a link, and not lent', async () => {
    await symlink(join(base, 'secret'), git('lfs'))
    expect(await work('cat .git/borrowed/lfs/main .git/borrowed/lfs/objects/key; git log --format=%s')).toContain('first\n')
    const guarded = await guard(join(base, 'home'), root)
    expect(guarded.masks.filter(({ path }) => path.endsWith('lfs'))).toEqual([])
    await guarded.settle()
  })

  it('the objects are lent as what they were when they were looked at', async () => {
    await mkdir(git('lfs/objects'), { recursive: true })
    const guarded = await guard(join(base, 'home'), root)
    const marks = guarded.masks.flatMap((mask) => ('mark' in mask ? [[mask.path.split('/').at(-1), mask.mark]] : []))
    expect(marks).toEqual([
      ['objects', markOf(statSync(git('objects')))],
      ['lfs', markOf(statSync(git('lfs')))],
    ])
    await guarded.settle()
  })
})
