import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inPlace } from '../domain/base/path.ts'
import { builtinProfiles } from '../domain/profile/builtin.ts'
import type { Profile } from '../domain/profile/profile.ts'
import { createPermissions } from '../engine/rights/permissions.ts'
import { createRunTools } from './run-tools.ts'

const { strict, guarded } = builtinProfiles
const ssh: Profile['ssh'] = { hosts: [], mode: 'readonly', level: 0 }

describe('what a profile offers', () => {
  let base: string
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'pawl-offer-'))
    await mkdir(join(base, 'private'))
    await writeFile(join(base, 'a.txt'), 'hello')
    await writeFile(join(base, 'private/b.txt'), 'hello')
  })
  afterEach(() => rm(base, { recursive: true, force: true }))

  async function offered(profile: Profile) {
    const asked: string[] = []
    const { permit } = createPermissions({
      ...{ profile, workspace: base, walls: { enforced: true }, grants: { use: async () => undefined }, redact: (text) => text },
      async ask({ text }) {
        asked.push(text)
        return undefined
      },
      ...{ record: () => undefined, interrupt: () => undefined },
    })
    const tools = await createRunTools({
      profile,
      walls: { workspace: inPlace(base) },
      permit,
      approve: permit,
      launch: async () => Promise.reject(new Error('nothing is started here')),
      ssh: { folder: base, key: async () => '', audit: async () => undefined },
    })
    const verbs = { consult: async () => undefined, notify: async () => undefined }
    const call = (name: string, input: object) =>
      tools.find((tool) => tool.name === name)!.call(input, verbs, new AbortController().signal)
    return { asked, call, names: tools.map(({ name }) => name) }
  }

  it('is nothing more where programs have their own tools, unless other machines are named', async () => {
    expect((await offered(guarded)).names).toEqual([])
    expect((await offered({ ...guarded, ssh })).names).toEqual(['ssh_exec', 'ssh_read', 'ssh_connect'])
    expect((await offered(strict)).names).toEqual([
      'Read',
      'ReadDocument',
      'Write',
      'Edit',
      'MultiEdit',
      'Glob',
      'Grep',
      'LS',
      'Bash',
      'AskUserQuestion',
    ])
  })

  it('goes by its rules: what is allowed, what is asked about, and what is denied by where it really leads', async () => {
    const { asked, call } = await offered({ ...strict, rules: { ...strict.rules, deny: ['Read(private/**)'] } })
    expect(await call('Read', { file_path: 'a.txt' })).toBe('     1\thello')
    await expect(call('Bash', { command: 'ls' })).rejects.toThrow(
      /needs the permission of a person.* Sandbox policy: file sandboxing is on/,
    )
    expect(asked[0]).toContain('Bash(ls)')
    await expect(call('Read', { file_path: 'x/../private/../private/b.txt' })).rejects.toThrow()
    await expect(call('Read', { file_path: './private/b.txt' })).rejects.toThrow(
      /Denied: .*Read\(private\/\*\*\).* Sandbox policy/,
    )
    expect(await call('Grep', { pattern: 'hello' })).toBe(`${base}/a.txt`)
  })

  it('searches what no rule of reading is about, once the search is allowed', async () => {
    const profile = { ...strict, rules: { allow: ['Grep'], ask: ['Read(private/**)'], deny: [] } }
    expect(await (await offered(profile)).call('Grep', { pattern: 'hello' })).toBe(`${base}/a.txt`)
  })
})
