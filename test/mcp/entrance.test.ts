import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Role } from '../../src/domain/auth/role.ts'
import { until } from '../engine/home.ts'
import { type McpPeer, modernClient, rpc, startPeer } from './peer.ts'

let peer: McpPeer
beforeAll(async () => {
  peer = await startPeer()
})
afterAll(() => peer.remove())

const by = { by: 'test' }
async function tokenOf(role: Role) {
  await peer.daemon.entrance.createUser({ name: role, role }, by)
  return peer.daemon.entrance.createToken({ user: role }, by)
}
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const post = (headers: Record<string, string>, body: unknown = initialize) =>
  fetch(peer.url(), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  })
/** fetch chooses Host and Origin itself. */
const rawStatus = (headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const url = new URL(peer.url())
    const sent = request({ ...{ host: url.hostname, port: url.port, path: url.pathname, method: 'POST' }, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end('{}')
  })

it('nobody comes in without a good token, and is told where tokens come from and nothing of the home', async () => {
  const stranger = await post({})
  expect(stranger.status).toBe(401)
  const origin = new URL(peer.url()).origin
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
  expect(stranger.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`)
  expect(await stranger.json()).toMatchObject({ jsonrpc: '2.0', error: { message: expect.stringContaining('token') }, id: null })
  const described = await (await fetch(metadata)).json()
  expect(described).toEqual({
    resource: `${origin}/mcp`,
    resource_name: 'Pawl',
    bearer_methods_supported: ['header'],
    token_instructions: expect.stringContaining('pawl token create'),
  })
  expect(await (await fetch(`${origin}/.well-known/oauth-protected-resource`)).json()).toEqual(described)
  expect((await post({ Authorization: 'Bearer wrong' })).status).toBe(401)
  const good = { Authorization: `Bearer ${peer.token}`, 'Content-Type': 'application/json' }
  expect(await rawStatus({ ...good, Host: 'evil.example' })).toBe(421)
  expect(await rawStatus({ ...good, Origin: 'http://evil.example' })).toBe(403)
  expect((await post({ Authorization: `Bearer ${peer.token}` })).status).toBe(200)
})

it('the rights of a token decide which tools it sees and which it can call', async () => {
  const [viewer, operator] = [await tokenOf('viewer'), await tokenOf('operator')]
  const hook = await peer.daemon.entrance.createToken({ kind: 'hook' }, by)
  const names = async (token: string) =>
    (await rpc<{ tools: { name: string }[] }>(peer, 'tools/list', {}, { token })).result.tools.map(({ name }) => name)
  expect(await names(operator.token)).toEqual(await names(peer.token))
  expect((await names(viewer.token)).sort()).toEqual(
    ['get_task', 'list_agents', 'list_questions', 'list_tasks', 'read_changes', 'read_log', 'read_result', 'wait_task'].sort(),
  )
  expect(await names(hook.token)).toEqual(['create_task'])
  const create = (token: string) =>
    rpc<{ isError?: boolean; content: { text: string }[]; structuredContent?: { task: { id: string } } }>(
      peer,
      'tools/call',
      { name: 'create_task', arguments: { prompt: 'x --no-question', agent: 'demo' } },
      { token },
    )
  expect((await create(viewer.token)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('"create"') }],
  })
  const made = (await create(hook.token)).result.structuredContent!.task.id
  expect((await rpc(peer, 'resources/read', { uri: `pawl://tasks/${made}` }, { token: hook.token })).error?.code).toBe(-32601)
  expect((await rpc(peer, 'tasks/get', { taskId: made }, { token: hook.token })).error?.code).toBe(-32601)
  expect((await rpc(peer, 'tasks/get', { taskId: made }, { token: viewer.token })).result).toMatchObject({ taskId: made })
  expect((await rpc(peer, 'tasks/cancel', { taskId: made }, { token: viewer.token })).error?.message).toContain('"work"')
  const { events } = await peer.daemon.runtime.readFeed({ after: '0', limit: 50, task: made })
  expect(events.find(({ type }) => type === 'task.queued')).toBeDefined()
})

it('a stream is cut when the token that opened it is revoked', { timeout: 60_000 }, async () => {
  const { id, token } = await peer.daemon.entrance.createToken({ name: 'short' }, by)
  const client = await modernClient(peer, { token, elicits: false })
  const told: string[] = []
  client.setNotificationHandler('notifications/resources/list_changed', () => void told.push('list'))
  const listening = await client.listen({ resourcesListChanged: true })
  await peer.daemon.runtime.createTask({ prompt: 'x --no-question', agent: 'demo' }, by)
  await until(() => told.length > 0)
  await peer.daemon.entrance.revokeToken(id, by)
  await listening.closed
  expect((await post({ Authorization: `Bearer ${token}` })).status).toBe(401)
  await client.close()
})
