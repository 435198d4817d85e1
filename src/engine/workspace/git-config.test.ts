import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanGitConfig } from './git-config.ts'

describe('a cleaned configuration of git', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pawl-git-config-'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  /** As git itself reads it. */
  const read = async (text: string) => {
    await writeFile(join(root, 'config'), text)
    return execFileSync('git', ['config', '--file', join(root, 'config'), '--list'], { encoding: 'utf8' })
      .trim()
      .split('\n')
  }

  it('keeps the name of the user, remotes, branches and submodules', async () => {
    const { text, dropped } = cleanGitConfig(`
[core]
	repositoryformatversion = 0
	bare = false
[user]
	name = "Ada \\"the first\\" Lovelace" ; a remark
	email = ada@example.com
[remote "origin"] url = https://example.com/a.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "feature/x"]
	remote = origin
	merge = refs/heads/feature/x
[submodule "lib"]
	active
	url = git@example.com:lib.git
`)
    expect(dropped).toEqual([])
    expect(await read(text)).toEqual([
      'core.repositoryformatversion=0',
      'core.bare=false',
      'user.name=Ada "the first" Lovelace',
      'user.email=ada@example.com',
      'remote.origin.url=https://example.com/a.git',
      'remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*',
      'branch.feature/x.remote=origin',
      'branch.feature/x.merge=refs/heads/feature/x',
      'submodule.lib.active=true',
      'submodule.lib.url=git@example.com:lib.git',
    ])
  })

  it('leaves out whatever names a program, leads elsewhere or is not known', () => {
    const hostile = `
[core]
	fsmonitor = ./evil
	hooksPath = evil
	sshCommand = evil
	worktree = /etc
	pager = evil
	editor = evil
[alias] st = !evil
[filter "x"] clean = evil
[diff] external = evil
[diff "x"] textconv = evil
[include] path = ../evil
[includeIf "gitdir:/"] path = ../evil
[credential] helper = !evil
[remote "origin"]
	url = ext::sh -c evil
	uploadpack = evil
	vcs = evil
[remote "dash"] url = --upload-pack=evil
[submodule "x"] update = !evil
[url "ext::evil"] insteadOf = https://
[http] extraHeader = AUTHORIZATION: basic secret
`
    const { text, dropped } = cleanGitConfig(hostile)
    expect(text).toBe('')
    expect(dropped).toHaveLength(20)
  })

  it('takes the password out of an address', () => {
    const { text } = cleanGitConfig(
      '[remote "o"]\n\turl = https://me:secret@example.com/a.git\n\tpushurl = ssh://git@example.com/a.git',
    )
    expect(text).toContain('"https://example.com/a.git"')
    expect(text).toContain('"ssh://git@example.com/a.git"')
    expect(text).not.toContain('secret')
  })

  it('cannot be led into writing a setting by the name or the value of another', async () => {
    const { text } = cleanGitConfig(`[branch "a]\\n[core"]\n\tremote = o\n[user]\n\tname = "x\\n[core]\\n\\tfsmonitor = evil"\n`)
    expect((await read(`${text}[user]\n\temail = a`)).join()).not.toMatch(/fsmonitor/)
  })

  it('is not taken for the same as before where a remark ends in a backslash, whatever ends the line', async () => {
    for (const end of ['\n', '\r\n']) {
      const hidden = `[core]${end}\tbare = false${end}# a remark \\${end}[core]${end}# another \\${end}fsmonitor = evil${end}`
      expect((await read(hidden)).join()).toContain('core.fsmonitor=evil')
      expect(cleanGitConfig(hidden).rest).toBeUndefined()
    }
  })

  it('of a text that is no configuration is empty', () => {
    for (const text of ['no section = 1', '[core]\n\tbare = "open', 'x\0y', `[a]\n${'b\n'.repeat(200_000)}`])
      expect(cleanGitConfig(text)).toEqual({ text: '', dropped: ['what cannot be read'], rest: undefined, values: [] })
  })
})
