import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { McpServers } from '../../src/domain/agent/mcp-server.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from '../engine/home.ts'
import { withLoopDelay } from '../loop-delay.ts'
import { type HttpPeer, startHttpPeer } from './http-server.ts'

const fakeAgent = join(import.meta.dirname, '../fake-agent/fake-agent.js')
const fakeClaude = join(import.meta.dirname, '../fake-agent/fake-claude.js')
const program = join(import.meta.dirname, 'stdio-server.js')
const token = 'library-token-0123456789'
const secret = 'notes-secret-9876543210'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
let library: HttpPeer
let old: HttpPeer
beforeAll(async () => {
  home = await makeHome()
  library = await startHttpPeer({ token })
  old = await startHttpPeer({ token, legacyOnly: true })
  const notes = {
    command: process.execPath,
    args: [program],
    env: { NOTES_TOKEN: { secret: 'NOTES' }, LOOK_FOR: join(home.path, 'config.yaml') },
  }
  const settings = {
    mcpServers: {
      notes,
      older: { ...notes, args: [program, '--old'] },
      broken: { ...notes, args: [program, '--broken'] },
      silent: { ...notes, args: [program, '--silent'], startTimeout: '7s' },
      missing: { command: 'no-such-program' },
      library: { type: 'http', url: library.url, headers: { Authorization: `Bearer \${secret:LIBRARY}` } },
      'old-library': { url: old.url, headers: { Authorization: `Bearer \${LIBRARY_TOKEN}` } },
      stranger: { url: library.url, headers: { Authorization: `Bearer \${secret:NOTES}` } },
    },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
  process.env.LIBRARY_TOKEN = token
  daemon = await startEngine(home.path)
  await daemon.secrets.setSecret('global', 'NOTES', secret, { by: 'test' })
  await daemon.secrets.setSecret('global', 'LIBRARY', token, { by: 'test' })
})
afterAll(async () => {
  delete process.env.LIBRARY_TOKEN
  await daemon?.stop()
  await library?.stop()
  await old?.stop()
  await home?.remove()
})

type Step = Record<string, unknown>

async function run(steps: Step[], servers: readonly string[], changes: Partial<ResolvedAgent> = {}) {
  const workspace = await mkdtemp(join(tmpdir(), 'pawl-servers-'))
  await chmod(workspace, 0o777)
  const agentConfig = commandAgent([fakeAgent], {
    options: { command: [fakeAgent], mcp: { path: '.agent/mcp.json' } },
    mcpServers: Object.fromEntries(servers.map((name) => [name, settingsOf(name)])),
    ...changes,
  })
  const {
    task: { id },
  } = await daemon.runtime.createTask({ prompt: JSON.stringify(steps), agentConfig, workspace, attended: true }, { by: 'test' })
  const events = await eventsUntil(daemon, id, isResting, 60_000)
  const task = await daemon.runtime.getTask(id)
  const notes = events.flatMap((event) =>
    event.type === 'run.noted' && event.data.code === 'mcp_server_failed' ? [event.data.detail] : [],
  )
  return { task, events, notes, text: task.result?.text ?? '', all: JSON.stringify(events) }
}

/** As the settings above are resolved. */
function settingsOf(name: string): McpServers[string] {
  const stdio = (...flags: string[]) => ({
    kind: 'stdio' as const,
    command: process.execPath,
    args: [program, ...flags],
    env: { NOTES_TOKEN: `\${secret:NOTES}`, LOOK_FOR: join(home.path, 'config.yaml') },
    startTimeoutMs: 30_000,
    timeoutMs: 60_000,
  })
  const http = (url: string, authorization: string) => ({
    kind: 'http' as const,
    url,
    headers: { Authorization: authorization },
    transport: 'http' as const,
    startTimeoutMs: 30_000,
    timeoutMs: 20_000,
  })
  const all: McpServers = {
    notes: stdio(),
    hasty: { ...stdio(), timeoutMs: 2_000 },
    older: stdio('--old'),
    broken: stdio('--broken'),
    flooding: stdio('--flood'),
    many: stdio('--many'),
    cruel: stdio('--cruel'),
    silent: { ...stdio('--silent'), startTimeoutMs: 6_000 },
    missing: { ...stdio(), command: 'no-such-program' },
    library: http(library.url, `Bearer \${secret:LIBRARY}`),
    'old-library': http(old.url, `Bearer \${LIBRARY_TOKEN}`),
    stranger: http(library.url, `Bearer \${secret:NOTES}`),
  }
  return all[name]!
}

test('an agent inside the walls calls servers of the user in both eras, and sees none of their secrets', async () => {
  const { task, text, all, notes } = await run(
    [
      { mcp: { server: 'notes' } },
      { mcp: { server: 'notes', tool: 'echo', input: { text: 'hello' } } },
      { mcp: { server: 'notes', tool: 'whoami' } },
      { mcp: { server: 'older', tool: 'echo', input: { text: 'as of old' } } },
      { mcp: { server: 'library', tool: 'find', input: { title: 'Moby-Dick' } } },
      { mcp: { server: 'old-library', tool: 'find', input: { title: 'Emma' } } },
      { sayEnv: 'NOTES_TOKEN' },
    ],
    ['notes', 'older', 'library', 'old-library'],
  )
  expect(notes).toEqual([])
  expect(task.state).toBe('completed')
  expect(text).toContain('notes: echo whoami huge hang crash')
  expect(text).toContain('notes: you said: hello')
  expect(text).toContain('older: you said: as of old')
  expect(text).toContain('library: found: Moby-Dick; the token was [redacted')
  expect(text).toContain('old-library: found: Emma; the token was [redacted')
  const whoami = JSON.parse(/notes: (\{.*\})/.exec(text)![1]!) as Record<string, unknown>
  expect(whoami).toMatchObject({ hasToken: true, variables: [], sees: [] })
  expect(whoami.uid).not.toBe(0)
  expect(all).not.toContain(secret)
  expect(all).not.toContain(token)
  // The eras: the modern one asks to discover and goes on without initialize, the older one begins with it.
  expect(library.heard.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['server/discover', 'tools/list', 'tools/call']),
  )
  expect(library.heard.map(({ method }) => method)).not.toContain('initialize')
  expect(old.heard.map(({ method }) => method)).toContain('initialize')
  const views = Object.fromEntries((await daemon.runtime.listMcpServers()).map(({ name, health }) => [name, health]))
  expect(Object.keys(views)).toContain('notes')
}, 90_000)

test('a server that is silent, broken, missing or shut is told of in the run with what to do, and the others work', async () => {
  const { task, text, notes, all } = await run(
    [
      { mcp: { server: 'missing' } },
      { mcp: { server: 'broken' } },
      { mcp: { server: 'stranger' } },
      { mcp: { server: 'notes', tool: 'echo', input: { text: 'still here' } } },
      { mcp: { server: 'silent' } },
    ],
    ['missing', 'broken', 'stranger', 'notes', 'silent'],
  )
  expect(task.state).toBe('completed')
  expect(text).toContain('notes: you said: still here')
  const all4 = notes.join('\n')
  expect(all4).toMatch(/"no-such-program" was not found in .*; install it, or give its full path/)
  expect(all4).toMatch(/server "broken" ended with exit code 3; it wrote: cannot go on: no database/)
  expect(all4).toMatch(/server "stranger" does not let Pawl in \(401\): see that its headers name the right secret/)
  expect(all4).toMatch(/server "silent" was started and did not answer within 6 s/)
  expect(text).toContain('silent: error: The server "silent" was started and did not answer')
  expect(all).not.toContain(secret)
}, 90_000)

test('a program that reaches its servers over its own pipe has the same of them', async () => {
  const { events, notes, all } = await run(
    [
      { call: { server: 'notes' } },
      { call: { server: 'notes', name: 'echo', arguments: { text: 'hello' } } },
      { call: { server: 'old-library', name: 'find', arguments: { title: 'Emma' } } },
      { call: { server: 'missing' } },
      { call: { server: 'nobody', name: 'echo', arguments: {} } },
      { call: {} },
    ],
    ['notes', 'old-library', 'missing'],
    {
      adapter: 'claude-code',
      options: { command: fakeClaude },
      env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    },
  )
  const said = events.flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : []))
  expect(said).toEqual([
    expect.stringContaining('"echo","whoami"'),
    'you said: hello',
    expect.stringMatching(/^found: Emma; the token was \[redacted/),
    expect.stringMatching(/"no-such-program" was not found/),
    'There is no server of tools "nobody" in this run.',
    expect.stringContaining('"ask_user","send_message_to_user"'),
  ])
  expect(notes).toEqual([expect.stringContaining('no-such-program')])
  expect(all).not.toContain(token)
}, 90_000)

test('a call that hangs is given up, one that ends its server is told, and a huge answer is cut', async () => {
  const { text, notes, task } = await run(
    [
      { mcp: { server: 'hasty', tool: 'hang' } },
      { mcp: { server: 'notes', tool: 'crash' } },
      { mcp: { server: 'notes', tool: 'echo', input: { text: 'back again' } } },
      { mcp: { server: 'notes', tool: 'huge' } },
    ],
    ['notes', 'hasty'],
  )
  expect(task.state).toBe('completed')
  expect(text).toContain('did not answer within 2 s, so this call was given up')
  expect(text).toMatch(/"notes" was lost in the middle of this call: .*exit code 7; it wrote: the floor gave way/)
  expect(text).toContain('notes: you said: back again')
  expect(text).toMatch(/x{1000}\n… 2900000 characters left out …\nx{1000}/)
  expect(notes.join('\n')).toMatch(/"notes" was lost: .*the floor gave way/)
}, 90_000)

test('one that complains without end works, and of one with 10,000 tools as many are told of as a model can bear, without its key', async () => {
  const { task, text, events, all } = await run(
    [
      { mcp: { server: 'flooding', tool: 'echo', input: { text: 'still here' } } },
      { mcp: { server: 'many' } },
      { mcp: { server: 'many', tool: 'echo', input: { text: 'and here' } } },
    ],
    ['flooding', 'many'],
  )
  expect(task.state).toBe('completed')
  expect(text).toContain('flooding: you said: still here')
  expect(text).toContain('many: you said: and here')
  const listed = text.split('\n').find((line) => line.startsWith('many: echo'))!
  expect(listed.split(' ')).toHaveLength(1_001)
  const notes = events.flatMap((event) => (event.type === 'run.noted' ? [event.data.detail] : []))
  expect(notes.join('\n')).toContain('"many" has 10005 tools, and the agent is told of the first 1000 at most')
  expect(all).not.toContain(secret)
}, 90_000)

test('rules of the profile decide about the tools of a server, and a profile may have none of them', async () => {
  const guarded = builtinProfiles.guarded
  const rules = { ...guarded.rules, deny: [...guarded.rules.deny, 'mcp__notes__whoami'] }
  const mine = { ...guarded, name: 'mine', rules, tools: { native: true, disabled: ['mcp__notes__h*'] } }
  const denied = await run(
    [
      { mcp: { server: 'notes' } },
      { mcp: { server: 'notes', tool: 'whoami' } },
      { mcp: { server: 'notes', tool: 'huge' } },
      { mcp: { server: 'notes', tool: 'echo', input: { text: 'allowed' } } },
    ],
    ['notes'],
    { profile: 'mine', rights: mine },
  )
  expect(denied.text).toContain('notes: echo whoami crash')
  expect(denied.text).toMatch(/notes: Denied: The rule deny mcp__notes__whoami of profile "mine" is about it/)
  expect(denied.text).toContain('does not have the tool mcp__notes__huge')
  expect(denied.text).toContain('notes: you said: allowed')
  const none = await run([{ speak: 'nothing to call' }], ['notes'], { profile: 'mine', rights: { ...mine, mcpServers: [] } })
  expect(none.text).toContain('nothing to call')
  expect(none.all).not.toContain('stdio-server')
}, 90_000)

test('a task may do with fewer servers than its agent has, and never with more', async () => {
  const { runtime } = daemon
  const agentConfig = commandAgent([fakeAgent], { mcpServers: { notes: settingsOf('notes'), older: settingsOf('older') } })
  const task = { prompt: '[]', agentConfig }
  await expect(runtime.createTask({ ...task, mcpServers: ['note'] }, { by: 'test' })).rejects.toThrow(
    'Agent "helper" is not offered a server of tools "note" (it has notes, older); did you mean "notes"?',
  )
})

test('a server is looked at inside the walls when somebody asks, and what was seen stays', async () => {
  const { runtime } = daemon
  const notes = await runtime.testMcpServer('notes')
  expect(notes).toMatchObject({
    kind: 'stdio',
    agents: expect.arrayContaining(['claude']),
    health: {
      state: 'reachable',
      checkedBy: 'test',
      server: 'notes',
      version: '1.2.3',
      protocol: '2026-07-28',
      era: 'modern',
      tools: ['echo', 'whoami', 'huge', 'hang', 'crash'],
      error: null,
    },
  })
  expect((await runtime.testMcpServer('older')).health).toMatchObject({
    state: 'reachable',
    era: 'legacy',
    protocol: '2025-11-25',
  })
  expect((await runtime.testMcpServer('library')).health).toMatchObject({ state: 'reachable', era: 'modern', server: 'library' })
  expect((await runtime.testMcpServer('old-library')).health).toMatchObject({ state: 'reachable', era: 'legacy' })
  const broken = await runtime.testMcpServer('broken')
  expect(broken.health).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('no database (key [redacted'),
    tools: null,
  })
  expect((await runtime.testMcpServer('stranger')).health).toMatchObject({
    state: 'sign_in',
    error: expect.stringContaining('(401)'),
  })
  expect(JSON.stringify(await runtime.listMcpServers())).not.toContain(secret)
  await expect(runtime.getMcpServer('note')).rejects.toThrow('There is no server of tools "note"; did you mean "notes"?')
}, 90_000)

test('a server whose answer takes for ever to hold against its own schema keeps nobody waiting', async () => {
  const { result, blockedMs } = await withLoopDelay(() =>
    run([{ mcp: { server: 'cruel' } }, { mcp: { server: 'cruel', tool: 'cruel' } }], ['cruel']),
  )
  expect(result.text).toContain('cruel: said')
  expect(blockedMs).toBeLessThan(2_000)
})
