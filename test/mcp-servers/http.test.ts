import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { McpServerView } from '../../src/domain/agent/mcp-server.ts'
import type { Role } from '../../src/domain/auth/role.ts'
import { makeHome, startEngine } from '../engine/home.ts'
import { startOAuthPeer } from './oauth-server.ts'

const program = join(import.meta.dirname, 'stdio-server.js')
const secret = 'notes-secret-9876543210'

let home: Awaited<ReturnType<typeof makeHome>>
let wiki: Awaited<ReturnType<typeof startOAuthPeer>>
let daemon: Daemon
const tokens: Partial<Record<Role, string>> = {}
beforeAll(async () => {
  home = await makeHome()
  wiki = await startOAuthPeer()
  const notes = { command: process.execPath, args: [program], env: { NOTES_TOKEN: { secret: 'NOTES' } } }
  const mcpServers = {
    notes,
    broken: { ...notes, args: [program, '--broken'] },
    wiki: { url: wiki.url, oauth: true },
    away: { command: 'no-such-program' },
  }
  const agents = { closed: { adapter: 'claude-code', mcpServers: ['notes'] } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ mcpServers, agents }), { mode: 0o600 })
  daemon = await startEngine(home.path, { http: true, env: { PAWL_PORT: '0' } })
  await daemon.secrets.setSecret('global', 'NOTES', secret, { by: 'test' })
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    await daemon.entrance.createUser({ name: role, role }, { by: 'test' })
    tokens[role] = (await daemon.entrance.createToken({ user: role }, { by: 'test' })).token
  }
})
afterAll(async () => {
  await daemon?.stop()
  await wiki?.stop()
  await home?.remove()
})

async function ask<T = McpServerView>(method: string, path: string, body?: unknown, role: Role = 'admin') {
  const response = await fetch(`${daemon.url}/api/v1/mcp-servers${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens[role]}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(text).not.toContain(secret)
  return { status: response.status, body: JSON.parse(text) as T & { detail?: string } }
}

test('servers are listed as the settings have them, tested at once, and shown as they were seen', async () => {
  const all = await ask<{ items: McpServerView[]; next: null }>('GET', '', undefined, 'viewer')
  expect(all.status).toBe(200)
  expect(all.body.items.map(({ name, kind, transport, signsIn }) => ({ name, kind, transport, signsIn }))).toEqual([
    { name: 'notes', kind: 'stdio', transport: 'stdio', signsIn: false },
    { name: 'broken', kind: 'stdio', transport: 'stdio', signsIn: false },
    { name: 'wiki', kind: 'http', transport: 'http', signsIn: true },
    { name: 'away', kind: 'stdio', transport: 'stdio', signsIn: false },
  ])
  const notes = await ask('POST', '/notes/test', {}, 'operator')
  expect(notes).toMatchObject({
    status: 200,
    body: {
      name: 'notes',
      source: expect.stringMatching(/config\.yaml:\d+$/),
      agents: expect.arrayContaining(['closed', 'claude', 'ollama']),
      health: { state: 'reachable', checkedBy: 'test', tools: ['echo', 'whoami', 'huge', 'hang', 'crash'], error: null },
    },
  })
  // Its program speaks no MCP.
  expect(notes.body.agents).not.toContain('demo')
  expect(await ask('GET', '/notes', undefined, 'viewer')).toEqual(notes)
  expect(await ask('POST', '/broken/test', { profile: 'guarded' })).toMatchObject({
    status: 200,
    body: { agents: expect.not.arrayContaining(['closed']), health: { state: 'failed', tools: null } },
  })
  expect((await ask('POST', '/away/test', {})).body.health).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('install it, or give its full path'),
  })
}, 60_000)

test('who may not, what is not there and what makes no sense is refused with what to do', async () => {
  expect(await ask('POST', '/notes/test', {}, 'viewer')).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('viewer') },
  })
  const redirectUrl = 'http://127.0.0.1:9/callback'
  expect(await ask('POST', '/wiki/sign-in', { redirectUrl }, 'operator')).toMatchObject({ status: 403 })
  expect(await ask('POST', '/wiki/sign-in/finish', { query: 'code=x' }, 'operator')).toMatchObject({ status: 403 })
  for (const [method, path, body] of [
    ['GET', '/note', undefined],
    ['POST', '/note/test', {}],
    ['POST', '/note/sign-in', { redirectUrl }],
  ] as const)
    expect(await ask(method, path, body)).toMatchObject({
      status: 404,
      body: { detail: 'There is no server of tools "note"; did you mean "notes"?' },
    })
  expect(await ask('GET', '/constructor')).toMatchObject({ status: 404 })
  expect(await ask('POST', '/notes/test', { profil: 'guarded' })).toMatchObject({ status: 400 })
  expect(await ask('POST', '/notes/test', { profile: 'guardd' })).toMatchObject({
    body: { detail: expect.stringContaining('did you mean "guarded"?') },
  })
  expect(await ask('POST', '/wiki/sign-in', { redirectUrl: 'javascript:alert(1)' })).toMatchObject({ status: 400 })
  expect(await ask('POST', '/notes/sign-in', { redirectUrl })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('notes') },
  })
}, 60_000)

test('somebody signs in over the API, and the server is shown as reachable from then on', async () => {
  expect((await ask('POST', '/wiki/test', {})).body.health).toMatchObject({
    state: 'sign_in',
    error: 'The server "wiki" wants somebody to sign in: pawl mcp-servers sign-in wiki',
  })
  const begun = await ask<{ url: string }>('POST', '/wiki/sign-in', { redirectUrl: 'http://127.0.0.1:9/callback' })
  expect(begun.status).toBe(200)
  const back = new URL((await fetch(begun.body.url, { redirect: 'manual' })).headers.get('location')!)
  const finished = await ask('POST', '/wiki/sign-in/finish', { query: back.search.slice(1) })
  expect(finished).toMatchObject({ status: 200, body: { health: { state: 'reachable', server: 'wiki', tools: ['look'] } } })
  expect((await ask('GET', '/wiki', undefined, 'viewer')).body).toEqual(finished.body)
  expect((await ask('POST', '/wiki/sign-in/finish', { query: back.search.slice(1) })).status).toBeGreaterThanOrEqual(400)
}, 60_000)
