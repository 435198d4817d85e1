import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cloneWorkspace } from './clone.ts'
import { neutralGit, sessionGitConfig } from './git.ts'
import { git, guard, inside, put, repository, testPaths } from './testing.ts'

let base: string
let root: string
let canary: string
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'pawl-git-'))
  root = join(base, 'ws')
  canary = join(base, 'canary')
})
afterEach(() => rm(base, { recursive: true, force: true }))

/** Everything in a repository that can make git start a program, each of them touching the canary. */
async function hostile(): Promise<void> {
  await repository(root, { 'a.txt': 'a', 'b.bin': 'b', '.agent/x': 'x' })
  const evil = join(base, 'evil.sh')
  await writeFile(evil, `#!/bin/sh\ntouch ${canary}\ncat\n`)
  await chmod(evil, 0o755)
  await put(root, {
    '.gitattributes': '* filter=evil diff=evil merge=evil\n',
    '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = ext::${evil}\n\tupdate = !${evil}\n`,
    'more.config': `[core]\n\tsshCommand = ${evil}\n[alias]\n\tls-files = !${evil}\n\tfetch = !${evil}\n`,
  })
  const settings: Record<string, string> = {
    'core.fsmonitor': evil,
    'core.hooksPath': join(base, 'hooks'),
    'core.pager': evil,
    'core.editor': evil,
    'core.gitProxy': evil,
    'core.askPass': evil,
    'core.alternateRefsCommand': evil,
    'credential.helper': `!${evil}`,
    'filter.evil.clean': evil,
    'filter.evil.smudge': evil,
    'filter.evil.process': evil,
    'diff.evil.textconv': evil,
    'diff.external': evil,
    'merge.evil.driver': evil,
    'include.path': join(root, 'more.config'),
    'uploadpack.packObjectsHook': evil,
    'remote.origin.url': `ext::${evil}`,
    'remote.origin.uploadpack': evil,
    'submodule.s.url': `ext::${evil}`,
    'submodule.s.update': `!${evil}`,
    'url.ext::evil.insteadOf': base,
    'gpg.program': evil,
    'commit.gpgSign': 'true',
    'fetch.recurseSubmodules': 'true',
    'extensions.partialClone': 'origin',
    'core.repositoryformatversion': '1',
  }
  await writeFile(
    join(root, '.git/config'),
    Object.entries(settings)
      .map(([name, value]) => {
        const parts = name.split('.')
        const [section, key] = [parts[0], parts.at(-1)]
        const sub = parts.slice(1, -1).join('.')
        return `[${section}${sub === '' ? '' : ` "${sub}"`}]\n\t${key} = "${value}"\n`
      })
      .join(''),
  )
  await mkdir(join(base, 'hooks'))
  const hooks = ['post-index-change', 'post-checkout', 'reference-transaction', 'pre-auto-gc', 'post-merge', 'pre-commit']
  for (const folder of [join(base, 'hooks'), join(root, '.git/hooks')])
    for (const name of hooks) await writeFile(join(folder, name), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 })
  await writeFile(join(root, 'a.txt'), 'changed, so that a filter would be asked')
}

describe('git outside of the walls', () => {
  it('is dangerous in that repository if it is run plainly', async () => {
    await hostile()
    try {
      git(root, 'status')
    } catch {
      // It fails or not; what counts is what it ran.
    }
    expect(existsSync(canary)).toBe(true)
  })

  it('starts nothing of a hostile repository when it brings back what was committed, clones or fetches', async () => {
    await hostile()
    const guarded = await guard(join(base, 'home'), root)
    const work = await inside(guarded, root, 'git rm -q --cached b.bin && git commit -qm inside')
    expect(work.out).toBe('')
    expect((await guarded.settle()).sentence).toBeUndefined()
    expect(existsSync(canary)).toBe(false)
    const plan = {
      original: root,
      folder: join(base, 'copies'),
      task: 'tsk_1',
      owner: undefined,
      without: base,
      paths: testPaths,
    }
    const clone = await cloneWorkspace({ ...plan, signal: new AbortController().signal }).catch((error: Error) => error)
    if (!(clone instanceof Error)) await clone.bringBranch()
    await neutralGit({ folder: root, verb: 'fetch', args: ['origin'] }).catch(() => '')
    await neutralGit({ folder: root, verb: 'fetch', args: ['--recurse-submodules', `ext::sh -c "touch ${canary}"`] }).catch(
      () => '',
    )
    expect(existsSync(canary)).toBe(false)
  })

  it('does not look into the settings of the user either', async () => {
    await repository(root, { 'a.txt': 'a' })
    const listed = await neutralGit({ folder: root, verb: 'config', args: ['--list', '--show-scope'] })
    expect(listed).not.toMatch(/^(global|system)/m)
  })

  it('is nowhere else in Pawl: one file starts it', () => {
    const src = resolve(import.meta.dirname, '../..')
    const starters = (readdirSync(src, { recursive: true }) as string[])
      .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|(^|\/)(fixture|testing)\.ts$/.test(file))
      .filter((file) => /(?:file:\s*|\(\s*)['"`](?:\/usr\/bin\/)?git['"`]/.test(readFileSync(join(src, file), 'utf8')))
    expect(starters).toEqual(['engine/workspace/git.ts'])
  })
})

describe("the settings of a session's git", () => {
  it('name the user and let the workspace belong to somebody else', async () => {
    await put(base, {
      'user/.gitconfig': '[user]\n\tname = Ada "A" Lovelace\n\temail = ada@example.com\n[core]\n\tpager = evil\n',
    })
    const text = await sessionGitConfig(join(base, 'user'), '/srv/my project')
    await put(base, { 'session.config': text })
    const read = git(base, 'config', '--file', join(base, 'session.config'), '--list')
    expect(read).toContain('user.name=Ada A Lovelace\nuser.email=ada@example.com')
    expect(read).toContain('safe.directory=/srv/my project')
    expect(read).not.toContain('evil')
    expect(await sessionGitConfig(join(base, 'nobody'), '/srv')).toContain('name = "Pawl agent"')
  })
})
