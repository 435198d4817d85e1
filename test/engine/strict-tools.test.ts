import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import type { Profile } from '../../src/domain/profile/profile.ts'
import { startSshd } from '../../src/tools/ssh/testing.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

const fake = (name: string) => fileURLToPath(new URL(`../fake-agent/${name}`, import.meta.url))
const { strict } = builtinProfiles

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
let workspace: string
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
  workspace = await mkdtemp(join(tmpdir(), 'pawl-strict-'))
  await chmod(workspace, 0o777)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await rm(workspace, { recursive: true })
})

const mine = (changes: Partial<Profile>): Profile => ({ ...strict, name: 'mine', ...changes })
const allowing = (...allow: string[]) => ({ ...strict.rules, allow: [...strict.rules.allow, ...allow], ask: [] })

async function run(steps: readonly object[], rights: Profile, agent: Partial<ResolvedAgent> = {}) {
  const agentConfig = ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    profile: rights.name,
    rights,
    options: { command: fake('fake-claude.js') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
    ...agent,
  })
  const { task } = await daemon.runtime.createTask({ prompt: JSON.stringify(steps), agentConfig, workspace }, { by: 'test' })
  const events = await eventsUntil(daemon, task.id, isResting)
  const said = events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : []))
  return { task: await daemon.runtime.getTask(task.id), events, said }
}
const call = (name: string, args: object) => ({ call: { name, arguments: args } })

it('offers our tools instead of those of the program, and what they do is done in the workspace', async () => {
  const steps = [
    { sayArgs: true },
    { call: {} },
    call('Write', { file_path: 'a.txt', content: 'by the tool' }),
    call('Bash', { command: 'cat a.txt; echo; pwd; env | grep -c API_KEY; echo more >> a.txt' }),
  ]
  const { said, task } = await run(steps, mine({ rules: allowing('Bash') }))
  expect(task.state).toBe('completed')
  const [args = '', names = '', , ran = ''] = said
  expect(JSON.parse(args)).toEqual(expect.arrayContaining(['--tools=', '--disallowedTools=WebSearch']))
  expect(JSON.parse(names)).toEqual(expect.arrayContaining(['ask_user', 'Read', 'Write', 'Edit', 'Bash']))
  expect(ran).toMatch(new RegExp(`^by the tool\\n${workspace}\\n0`))
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('by the toolmore\n')
})

it('shows nothing of the program’s own configuration, neither to commands nor to tools that read', async () => {
  const rights = mine({ rules: allowing('Bash') })
  const { task } = await run([{ sayArgs: true }], rights)
  const own = join(home.path, 'sessions', task.session, '.claude')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'settings.json'), '{"canary":"of-the-program"}')
  const look = `ls -A ${own} ~ 2>&1; find / -xdev -name settings.json -path '*.claude*' 2>/dev/null; cat ${own}/settings.json 2>&1`
  const steps = [call('Bash', { command: look }), call('Read', { file_path: join(own, 'settings.json') })]
  const agentConfig = ResolvedAgent.parse({
    ...{ name: 'helper', adapter: 'claude-code', profile: 'mine', rights, options: { command: fake('fake-claude.js') } },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
  })
  const again = await daemon.runtime.createTask(
    { prompt: JSON.stringify(steps), agentConfig, session: task.session },
    { by: 'test' },
  )
  const events = await eventsUntil(daemon, again.task.id, isResting)
  const said = events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : []))
  expect(said).toHaveLength(2)
  expect(said[0]).toContain('No such file or directory')
  expect(said.join('\n')).not.toContain('of-the-program')
  expect(said[0]).not.toContain('\nsettings.json')
})

it('asks about what the profile asks about, and goes on with the answer', async () => {
  const command = call('Bash', { command: 'echo asked > asked.txt' })
  const { task, said } = await run([{ next: [command] }, command], mine({}))
  expect(said[0]).toMatch(/needs the permission of a person.* Sandbox policy: file sandboxing is on/)
  expect(task).toMatchObject({ state: 'blocked', questions: [{ kind: 'permission', state: 'pending' }] })
  expect(existsSync(join(workspace, 'asked.txt'))).toBe(false)
  await daemon.runtime.answerQuestion(task.questions[0]!.id, 'Allow once', { by: 'test' })
  await eventsUntil(daemon, task.id, (event) => event.type === 'task.completed')
  expect(await readFile(join(workspace, 'asked.txt'), 'utf8')).toBe('asked\n')
})

it('ends the run as denied after the third refusal of one tool', async () => {
  const write = call('Write', { file_path: 'private/a.txt', content: 'x' })
  const { task, said } = await run(
    [write, write, write, { hang: true }],
    mine({ rules: { ...strict.rules, deny: ['Write(private/**)'] } }),
  )
  expect(said[0]).toMatch(/^Denied: .*Write\(private\/\*\*\).* Sandbox policy/)
  expect(task.runs.map(({ outcome }) => outcome)).toEqual(['denied'])
  expect(existsSync(join(workspace, 'private'))).toBe(false)
})

it('lets commands reach the hosts that the profile names, and no others', async () => {
  const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1')
  await new Promise((up) => server.once('listening', up))
  const { port } = server.address() as AddressInfo
  const network = { allow: [`localhost:${port} local`], ask: [], deny: [] }
  const look = (host: string) => call('Bash', { command: `curl -s --noproxy '' --max-time 10 http://${host}/ || echo FAILED` })
  const { said } = await run([look(`localhost:${port}`), look('example.com')], mine({ rules: allowing('Bash'), network }))
  server.close()
  expect(said[0]).toBe('reached')
  expect(said[1]).not.toContain('reached')
  expect(said[1]).toMatch(/not allowed|FAILED|profile "mine"/)
  const closed = await run([look(`localhost:${port}`)], mine({ rules: allowing('Bash') }))
  expect(closed.said[0]).toContain('FAILED')
})

it('ends a command that runs when the run is cancelled', async () => {
  const steps = [call('Bash', { command: 'touch running.txt; sleep 300' })]
  const agentConfig = ResolvedAgent.parse({
    ...{ name: 'helper', adapter: 'claude-code', profile: 'mine', rights: mine({ rules: allowing('Bash') }) },
    ...{ options: { command: fake('fake-claude.js') }, env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } } },
    graceMs: 200,
  })
  const { task } = await daemon.runtime.createTask({ prompt: JSON.stringify(steps), agentConfig, workspace }, { by: 'test' })
  while (!existsSync(join(workspace, 'running.txt'))) await new Promise((again) => setTimeout(again, 10))
  await daemon.runtime.cancelTask(task.id, { now: false, by: 'test' })
  await eventsUntil(daemon, task.id, isResting)
  const commands = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  expect(commands.filter((text) => text.includes('touch running.txt; sleep 300'))).toEqual([])
})

it('refuses a program that cannot do without its own tools, and runs one that has none we know of', async () => {
  const codex = {
    adapter: 'codex',
    options: { command: fake('fake-codex.js') },
    env: { pass: [], set: { OPENAI_API_KEY: 'key-0123456789' } },
  }
  expect((await run([], strict, codex)).task).toMatchObject({
    state: 'failed',
    reason: {
      kind: 'bad_config',
      detail: expect.stringMatching(/^Codex cannot do without its own tools, .*"strict".*tools\.native/),
    },
  })
  const { adapter, options } = commandAgent(['/bin/sh', '-c', 'echo plain'])
  expect((await run([], strict, { adapter, options })).task).toMatchObject({ state: 'completed', result: { text: 'plain' } })
})

it('works on another machine with a key that only Pawl has, asks about what destroys, and writes all of it down', async () => {
  const sshd = await startSshd()
  onTestFinished(() => sshd.stop())
  const key = await readFile(join(sshd.folder, 'user'), 'utf8')
  await daemon.secrets.setSecret('global', 'web-key', key, { by: 'test' })
  const web = {
    name: 'web',
    host: '127.0.0.1',
    port: sshd.port,
    user: userInfo().username,
    key: 'web-key',
    hostKey: await sshd.keyOf('host'),
  }
  const profile = mine({ ssh: { hosts: [web], mode: 'filtered_shell', level: 3 } })
  const doomed = join(sshd.folder, 'doomed')
  await writeFile(doomed, '')
  const remove = call('ssh_exec', { host: 'web', command: `rm ${doomed}` })
  const look = call('ssh_exec', { host: 'web', command: `ls ${sshd.folder}` })
  const { said, task } = await run([{ call: {} }, look, { next: [remove] }, remove], profile)
  expect(said[0]).toContain('ssh_exec')
  expect(said[1]).toContain('doomed')
  expect(task).toMatchObject({
    state: 'blocked',
    questions: [{ kind: 'permission', text: expect.stringContaining(`rm ${doomed}`) }],
  })
  expect(existsSync(doomed)).toBe(true)
  await daemon.runtime.answerQuestion(task.questions[0]!.id, 'Allow once', { by: 'test' })
  await eventsUntil(daemon, task.id, (event) => event.type === 'task.completed')
  expect(existsSync(doomed)).toBe(false)

  const { items } = await daemon.audit.list({ limit: 50, action: 'ssh' })
  const acts = items.map(({ subject, detail }) => [subject, detail.state, detail.what, detail.task])
  expect(acts.toReversed()).toEqual([
    ['web', 'begun', `ls ${sshd.folder}`, task.id],
    ['web', 'ended', `ls ${sshd.folder}`, task.id],
    ['web', 'refused', `rm ${doomed}`, task.id],
    ['web', 'begun', `rm ${doomed}`, task.id],
    ['web', 'ended', `rm ${doomed}`, task.id],
  ])
  for (const { id } of (await daemon.runtime.getTask(task.id)).runs)
    expect(await readdir(join(home.path, 'runs', id))).not.toContain('ssh')
  expect(await readdir(join(home.path, 'leftovers'))).toEqual([])
})
