import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { bridgeSource } from './bridge.ts'
import { createToolServer } from './serve.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function door(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void handle(request, response.setHeader('connection', 'close')))
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  closers.push(() => new Promise((closed) => server.close(closed)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function bridge(env: Record<string, string>) {
  const child = spawn(process.execPath, ['-e', bridgeSource], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  closers.push(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise<{ code: number | null; stderr: string }>((done) =>
    child.on('close', (code) => done({ code, stderr })),
  )
  return {
    child,
    exited,
    send: (message: unknown) => child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
    next: async () => JSON.parse((await lines.next()).value as string),
  }
}

const request = (id: number, method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id, method, params })
const greeting = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a-client', version: '1' } }

describe('the bridge from stdio to the door', () => {
  it('carries a whole conversation, and ends with its stdin', async () => {
    const sent: string[] = []
    const seen: (string | undefined)[] = []
    const tools = createToolServer({ consult: async () => undefined, notify: async (text) => void sent.push(text) })
    const url = await door((incoming, response) => {
      seen.push(`${incoming.url} ${incoming.headers.authorization} ${incoming.headers['mcp-protocol-version']}`)
      return tools.handle(incoming, response)
    })
    // A proxy that everything else in the environment goes through has no say here.
    const proxy = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9' }
    const { send, next, child, exited } = bridge({ PAWL_DOOR_URL: url, PAWL_DOOR_TOKEN: 'secret', ...proxy })

    send(request(1, 'initialize', greeting))
    expect((await next()).result.serverInfo.name).toBe('pawl')
    send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    send(request(2, 'tools/list'))
    expect((await next()).result.tools).toHaveLength(2)
    const call = JSON.stringify(request(3, 'tools/call', { name: 'send_message_to_user', arguments: { message: 'grün\u2028✓' } }))
    send(call.slice(0, 40))
    send(`${call.slice(40)}\n`)
    expect(await next()).toMatchObject({ id: 3, result: { content: [{ text: 'sent' }] } })
    expect(sent).toEqual(['grün\u2028✓'])
    expect(seen[0]).toBe('/mcp Bearer secret undefined')
    expect(seen.at(-1)).toBe('/mcp Bearer secret 2025-06-18')

    send(JSON.stringify(request(4, 'ping')))
    child.stdin.end()
    expect(await next()).toMatchObject({ id: 4, result: {} })
    expect(await exited).toEqual({ code: 0, stderr: '' })
  })

  it('names the revision, the method and the tool of a request that describes itself', async () => {
    const seen = Promise.withResolvers<IncomingMessage['headers']>()
    const url = await door((incoming, response) => {
      seen.resolve(incoming.headers)
      response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    })
    const { send, next } = bridge({ PAWL_DOOR_URL: url, PAWL_DOOR_TOKEN: 'secret' })
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    send(request(1, 'tools/call', { name: 'ask_user', arguments: { question: 'x' }, _meta }))
    await next()
    expect(await seen.promise).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'ask_user',
    })
  })

  it('answers each request in the sentence of the door that refuses it, and goes on', async () => {
    const url = await door((_, response) => response.writeHead(409).end('{"error":"No run is under way here now."}'))
    const { send, next } = bridge({ PAWL_DOOR_URL: url, PAWL_DOOR_TOKEN: 'secret' })
    for (const id of [1, 2]) {
      send(request(id, 'ping'))
      expect(await next()).toEqual({ jsonrpc: '2.0', id, error: { code: -32000, message: 'No run is under way here now.' } })
    }
  })

  it('says so when nobody answers at the door', async () => {
    const { send, next } = bridge({ PAWL_DOOR_URL: 'http://127.0.0.1:9', PAWL_DOOR_TOKEN: 'secret' })
    send(request(1, 'ping'))
    expect(await next()).toMatchObject({ id: 1, error: { message: expect.stringContaining('Pawl does not answer at its door') } })
  })

  it('refuses to run outside of a run', async () => {
    const { code, stderr } = await bridge({}).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/PAWL_DOOR_URL and PAWL_DOOR_TOKEN are not set/)
  })
})
