import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { PawlError } from '../../domain/error.ts'
import type { SshAccess } from '../../domain/profile/profile.ts'
import type { Permit } from '../strict/strict-parts.ts'
import { createSshTools, type SshAudit, type SshToolsOptions } from './ssh-tools.ts'
import { type Sshd, startSshd } from './testing.ts'

describe('the tools for other machines', () => {
  let base: string
  let server: Sshd
  let hosts: SshAccess['hosts']
  let audited: SshAudit[]
  let approvals: unknown[]

  beforeAll(async () => {
    server = await startSshd()
    const { port, keyOf } = server
    base = server.folder
    await mkdir(join(base, 'run'))
    const host = { host: '127.0.0.1', port, user: userInfo().username, key: 'deploy' }
    hosts = [
      { name: 'web', ...host, hostKey: await keyOf('host') },
      { name: 'impostor', ...host, hostKey: await keyOf('other') },
      { name: 'stranger', ...host, key: 'wrong', hostKey: await keyOf('host') },
      { name: 'flag', ...host, host: '-oProxyCommand=id', hostKey: await keyOf('host') },
    ]
  })
  afterAll(() => server.stop())
  beforeEach(() => {
    audited = []
    approvals = []
  })

  function toolsWith(access: Partial<SshAccess> = {}, options: Partial<SshToolsOptions> = {}) {
    const approve: Permit = async (request) => {
      approvals.push(request)
      return { allow: false, message: 'A person was asked.' }
    }
    const tools = createSshTools({
      access: { hosts, mode: 'filtered_shell', level: 3, ...access },
      folder: join(base, 'run'),
      key: async (name) => readFile(join(base, name === 'deploy' ? 'user' : 'other'), 'utf8'),
      permit: async () => ({ allow: true }),
      approve,
      audit: async (entry) => void audited.push(entry),
      ...options,
    })
    return async (name: string, input: object, signal = new AbortController().signal) => {
      const verbs = { consult: async () => undefined, notify: async () => undefined }
      try {
        return await tools.find((tool) => tool.name === name)!.call(input, verbs, signal)
      } catch (error) {
        if (error instanceof PawlError) return `${error.code}: ${error.message}`
        throw error
      }
    }
  }

  it('run a command there and write down that they did; the key does not stay', async () => {
    const call = toolsWith()
    expect(await call('ssh_exec', { host: 'web', command: 'echo hello; ls /nowhere-at-all; false' })).toMatch(
      /^hello\n.*nowhere-at-all.*\nExit code 1\.$/,
    )
    expect(audited).toEqual([
      { tool: 'ssh_exec', host: 'web', what: 'echo hello; ls /nowhere-at-all; false', level: 0, state: 'begun' },
      {
        tool: 'ssh_exec',
        host: 'web',
        what: 'echo hello; ls /nowhere-at-all; false',
        level: 0,
        state: 'ended',
        code: 1,
        bytes: expect.any(Number),
      },
    ])
    expect(await readdir(join(base, 'run'))).toEqual([])
  })

  it('trust only the pinned key of a host, and only with the right key of ours', async () => {
    const call = toolsWith()
    expect(await call('ssh_connect', { host: 'web' })).toBe('web can be reached.')
    expect(await call('ssh_connect', { host: 'impostor' })).toMatch(
      /^unavailable: impostor could not be reached\. [\s\S]*(REMOTE HOST IDENTIFICATION|verification failed)/,
    )
    expect(await call('ssh_connect', { host: 'stranger' })).toMatch(/^unavailable: .*Permission denied/)
    expect(await call('ssh_connect', { host: 'flag' })).toMatch(/^invalid: The SSH host "flag" of the profile has a host/)
    expect(await call('ssh_connect', { host: 'elsewhere.example' })).toMatch(/^not_found: There is no host/)
    expect(await call('ssh_connect', {})).toContain(`web: ${userInfo().username}@127.0.0.1:`)
    expect(audited.filter(({ state }) => state !== 'begun').map(({ host, state }) => `${host} ${state}`)).toEqual([
      ...['web ended', 'impostor ended', 'stranger ended', 'flag failed', 'elsewhere.example refused'],
    ])
  })

  it('refuse what the filter refuses without going there, and ask about what destroys', async () => {
    const call = toolsWith()
    expect(await call('ssh_exec', { host: 'web', command: 'cat /etc/shadow' })).toMatch(/^denied: .* no level allows/)
    expect(await call('ssh_exec', { host: 'web', command: `rm ${base}/host` })).toBe('denied: A person was asked.')
    expect(approvals).toEqual([{ tool: 'mcp__pawl__ssh_exec', input: { host: 'web', command: `rm ${base}/host` } }])
    expect(audited.map(({ state }) => state)).toEqual(['refused', 'refused'])
    expect(await readdir(base)).toContain('host')
    const allowed = toolsWith({}, { approve: async () => ({ allow: true }) })
    await writeFile(join(base, 'doomed'), '')
    expect(await allowed('ssh_exec', { host: 'web', command: `rm ${base}/doomed` })).toBe('Done; it printed nothing.')
    expect(await readdir(base)).not.toContain('doomed')
  })

  it('read a file, but not one that holds secrets, nor by a link to one', async () => {
    const call = toolsWith({ mode: 'readonly', level: 0 })
    const folder = join(base, "it's")
    await mkdir(folder)
    await writeFile(join(folder, 'a.txt'), 'text\n')
    await writeFile(join(folder, '.env'), 'KEY=1')
    await chmod(join(folder, '.env'), 0o644)
    await symlink('.env', join(folder, 'b.txt'))
    expect(await call('ssh_read', { host: 'web', path: join(folder, 'a.txt') })).toBe('text\n')
    for (const name of ['.env', 'b.txt'])
      expect(await call('ssh_read', { host: 'web', path: join(folder, name) })).toMatch(/^denied: .* holds keys or passwords/)
    expect(await call('ssh_read', { host: 'web', path: join(folder, 'gone') })).toMatch(/^unavailable: /)
    expect(await call('ssh_read', { host: 'web', path: 'relative' })).toMatch(/^invalid: /)
  })

  it('end what takes too long or prints too much', async () => {
    const call = toolsWith()
    expect(await call('ssh_exec', { host: 'web', command: 'sleep 15', timeout: 2_000 })).toMatch(/ended after 2000 ms/)
    expect(await call('ssh_exec', { host: 'web', command: 'head -c 3000000 /dev/zero | tr "\\0" x' })).toMatch(/more than 1 MB/)
  })

  it('keep to three connections at once and thirty commands a minute', async () => {
    let at = 0
    const clock = { ...systemClock, monotonic: () => at }
    const call = toolsWith({}, { clock })
    const gone = new AbortController()
    const open = [1, 2, 3].map(() => call('ssh_exec', { host: 'web', command: 'sleep 15' }, gone.signal))
    await expect.poll(() => audited.length).toBe(3)
    expect(await call('ssh_exec', { host: 'web', command: 'uptime' })).toMatch(/^limited: No more than 3 connections/)
    gone.abort()
    await Promise.allSettled(open)
    const nowhere = toolsWith({}, { clock, key: async () => Promise.reject(new PawlError('not_found', 'no such key')) })
    for (let n = 0; n < 30; n++)
      expect(await nowhere('ssh_exec', { host: 'web', command: 'uptime' })).toBe('not_found: no such key')
    expect(await nowhere('ssh_exec', { host: 'web', command: 'uptime' })).toMatch(/^limited: No more than 30 commands a minute/)
    at = 60_001
    expect(await nowhere('ssh_exec', { host: 'web', command: 'uptime' })).toBe('not_found: no such key')
    expect(await readdir(join(base, 'run'))).toEqual([])
  })

  it('go by a denial of the profile', async () => {
    const call = toolsWith({}, { permit: async () => ({ allow: false, message: 'Denied by a rule.' }) })
    expect(await call('ssh_exec', { host: 'web', command: 'uptime' })).toBe('denied: Denied by a rule.')
  })
})
