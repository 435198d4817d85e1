import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type McpPeer, modernClient, rpc, startPeer } from './peer.ts'

let peer: McpPeer
beforeAll(async () => {
  peer = await startPeer()
})
afterAll(() => peer.remove())

interface Answered {
  readonly status: number
  readonly body: string
}
/** Whatever bytes, with whatever headers: no library stands between. */
const send = (body: string | Iterable<Buffer>, headers: Record<string, string> = {}) =>
  new Promise<Answered>((resolve, reject) => {
    const url = new URL(peer.url())
    const sent = request(
      {
        ...{ host: url.hostname, port: url.port, path: url.pathname, method: 'POST' },
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          Authorization: `Bearer ${peer.token}`,
          ...headers,
        },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part) => (text += part))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }))
      },
    )
    sent.on('error', reject)
    if (typeof body === 'string') return void sent.end(body)
    for (const part of body) sent.write(part)
    sent.end()
  })
const json = (value: unknown) => JSON.stringify(value)
const modern = { 'MCP-Protocol-Version': '2026-07-28' }
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const call = (params: unknown, id: unknown = 1) => json({ jsonrpc: '2.0', id, method: 'tools/call', params })

it('what is no message of the protocol is refused in its words, and nothing of it makes the daemon stumble', {
  timeout: 60_000,
}, async () => {
  const attacks: Record<string, Promise<Answered>> = {
    nothing: send(''),
    'no JSON': send('{"jsonrpc": "2.0", "id": 1, "method": '),
    'no text': send([Buffer.from([0xff, 0xfe, 0x00, 0x80])]),
    null: send('null'),
    number: send('42'),
    'empty batch': send('[]'),
    batch: send(json([{ jsonrpc: '2.0', id: 1, method: 'ping' }, 1, null])),
    'no version': send(json({ id: 1, method: 'tools/list' })),
    'method of another kind': send(json({ jsonrpc: '2.0', id: 1, method: { a: 1 } }), modern),
    'id of another kind': send(json({ jsonrpc: '2.0', id: { a: 1 }, method: 'tools/list', params: { _meta: meta } }), modern),
    'params of another kind': send(json({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: 'x' }), modern),
    'nested without end': send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks","arguments":${deep}}}`,
    ),
    'another kind of body': send('jsonrpc=2.0', { 'Content-Type': 'application/x-www-form-urlencoded' }),
    'unknown session': send(json({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), { 'Mcp-Session-Id': 'x'.repeat(5_000) }),
    'unknown revision': send(json({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }), {
      'MCP-Protocol-Version': '2099-01-01',
    }),
    'two names': send(call({ name: 'list_tasks', arguments: {}, _meta: meta }), {
      ...modern,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'cancel_task',
    }),
    prototype: send(call({ name: '__proto__', arguments: {}, _meta: meta }), {
      ...modern,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': '__proto__',
    }),
    'too large': send(
      (function* () {
        for (let megabyte = 0; megabyte < 24; megabyte++) yield Buffer.alloc(1024 * 1024, 0x20)
      })(),
    ).catch((error: NodeJS.ErrnoException) => ({
      status: error.code === 'EPIPE' || error.code === 'ECONNRESET' ? 413 : 0,
      body: '{"error":{"message":"cut"}}',
    })),
  }
  for (const [what, answer] of Object.entries(attacks)) {
    const { status, body } = await answer
    expect({ what, status, isRefused: (status >= 400 && status < 500) || /"error":/.test(body) }).toEqual({
      what,
      status: expect.any(Number),
      isRefused: true,
    })
    expect(status, what).toBeLessThan(500)
    expect(body, what).not.toMatch(/\bat .*\.ts:|node_modules/)
  }
  expect((await attacks['too large']!).status).toBe(413)
  // It works as before, for everybody.
  const client = await modernClient(peer, { elicits: false })
  expect((await client.listTools()).tools.length).toBeGreaterThan(10)
  await client.close()
})

it('arguments that make no sense are told to the model, with what is wrong with them', async () => {
  const tell = async (name: string, args: unknown) =>
    (await rpc<{ isError: boolean; content: { text: string }[] }>(peer, 'tools/call', { name, arguments: args })).result
  for (const [name, args, words] of [
    ['get_task', { task: '../../etc/passwd' }, 'task'],
    ['create_task', { prompt: '' }, 'prompt'],
    ['create_task', { prompt: 'x', agent: 'demmo' }, 'did you mean "demo"?'],
    ['create_task', { prompt: 'x', workspace: 'relative' }, 'workspace'],
    ['list_tasks', { cursor: 'x'.repeat(400) }, 'cursor'],
    ['list_tasks', { limit: 1e9 }, 'limit'],
    ['wait_task', { task: 't_000000000000000000', waitSeconds: -1 }, 'waitSeconds'],
  ] as const)
    expect(await tell(name, args)).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(words) }] })
})
