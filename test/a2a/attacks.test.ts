import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentCard, Task } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, pawl } from '../e2e/pawl.ts'
import { until } from '../engine/until.ts'
import { selfSigned } from '../self-signed.ts'
import { type A2AStage, request, script, startA2A, taskIn } from './stage.ts'

let stage: A2AStage
let folder: string
const name = 'pawl.test'
const { cert, key } = selfSigned(name)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-a2a-tls-'))
  stage = await startA2A()
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await rm(folder, { recursive: true, force: true })
})

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${stage.url()}${path}`, {
    method: 'POST',
    body,
    headers: { Authorization: `Bearer ${stage.token()}`, 'Content-Type': 'application/json', ...headers },
  })
const rpc = async (body: unknown) => {
  const response = await post('/a2a', typeof body === 'string' ? body : JSON.stringify(body))
  return { status: response.status, ...((await response.json()) as { id: unknown; error?: { code: number } }) }
}
const call = (method: unknown, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const message = (parts: unknown) => ({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts } })

test.each([
  ['no JSON at all', 'x', -32700],
  ['nothing', '', -32700],
  ['null', 'null', -32600],
  ['a number', '1', -32600],
  ['a batch, which A2A has none of', JSON.stringify([call('GetTask', { id: 'x' })]), -32600],
  ['another version of JSON-RPC', { ...call('GetTask', { id: 'x' }), jsonrpc: '1.0' }, -32600],
  ['a method that is no name', call(7, {}), -32600],
  ['a method that is not there', call('DropEverything', {}), -32601],
  ['a method of every object', call('constructor', {}), -32601],
  ['no parameters', call('SendMessage', undefined), -32602],
  ['parameters in a row', call('SendMessage', []), -32602],
  ['parameters that are text', call('SubscribeToTask', 'x'), -32602],
  ['no parameters of a stream', call('SendStreamingMessage', null), -32602],
  ['a stream with a message that is none', call('SendStreamingMessage', { message: 'x' }), -32602],
  ['a message that is none', call('SendMessage', { message: 7 }), -32602],
  ['parts that are none', call('SendMessage', message('x')), -32602],
  ['a part that is none', call('SendMessage', message([null])), -32602],
  [
    'a part of 0.3 that is none',
    call('message/send', { message: { kind: 'message', messageId: 'm', role: 'user', parts: [null] } }),
    -32602,
  ],
  ['text that no database can keep', call('SendMessage', message([{ text: 'a\0b' }])), -32602],
  ['half a sign', call('SendStreamingMessage', message([{ text: '\ud800' }])), -32602],
  [
    'an id of a message that cannot be kept',
    call('SendMessage', { message: { ...message([{ text: 'x' }]).message, messageId: '\0' } }),
    -32602,
  ],
  ['an id that is no text', call('GetTask', { id: { $ne: '' } }), -32001],
  ['an id from elsewhere', call('SubscribeToTask', { id: '../../etc/passwd' }), -32001],
])(
  'JSON-RPC: %s is refused in its own words',
  async (_, body, code) => {
    expect(await rpc(body)).toMatchObject({ status: 200, jsonrpc: '2.0', error: { code } })
  },
  30_000,
)

test('an id of a request comes back as it was, and one that is none does not', async () => {
  for (const id of [0, -1, '', 'a"}],', 'ü\u2028'])
    expect(await rpc(call('GetTask', { id: 'x' }, id))).toMatchObject({ id, error: { code: -32001 } })
  expect(await rpc(call('GetTask', { id: 'x' }, null))).toMatchObject({ id: null, error: { code: -32001 } })
  for (const id of [{}, [], true])
    expect(await rpc(call('GetTask', { id: 'x' }, id))).toMatchObject({ id: null, error: { code: -32600 } })
}, 30_000)

test('what is said to a stream stands in its own envelope, whatever the id holds', async () => {
  const id = 'a"}\n\ndata: {"result":'
  const params = { ...message([{ text: script({ speak: 'one\n\ndata: two' }, { result: 'done' }) }]) }
  const sent = { ...params, message: { ...params.message, metadata: stage.inWorkspace } }
  const text = await (await post('/a2a', JSON.stringify(call('SendStreamingMessage', sent, id)))).text()
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const read = frames.map((frame) => JSON.parse(frame.slice(6)) as { id: string; result: Record<string, unknown> })
  expect(new Set(read.map((frame) => frame.id))).toEqual(new Set([id]))
  expect(Object.keys(read[0]!.result)).toEqual(['task'])
  expect(JSON.stringify(read)).toContain('TASK_STATE_COMPLETED')
}, 60_000)

test('bodies that are too large, too deep or of another kind are refused before anything is made of them', async () => {
  const before = await count()
  for (const path of ['/a2a/message:send', '/a2a', '/a2a/agents/fake'])
    expect([path, await announce(path, 33 * 1024 * 1024)]).toMatchObject([path, { status: 413, body: { error: {} } }])
  const deep = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}}`
  const nested = await post('/a2a/message:send', deep)
  expect([nested.status, await nested.json()]).toMatchObject([400, { error: { message: expect.stringContaining('nested') } }])
  for (const method of ['SendMessage', 'SendStreamingMessage', 'message/send'])
    expect(await rpc(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${deep}}`)).toMatchObject({ error: { code: -32602 } })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])
    expect((await post('/a2a/message:send', '{}', { 'Content-Type': type })).status, type).toBe(415)
  expect((await post('/a2a', '{}', { 'Content-Type': 'text/plain' })).status).toBe(415)
  expect(await count()).toBe(before)
}, 120_000)

test('a reader who reads nothing is cut after ten seconds and costs the others nothing; who subscribes again misses nothing', async () => {
  const client = await stage.client({ agent: 'fake' })
  // More than the buffers of both ends hold together, said after they have subscribed; then the agent goes on.
  const said = 24 * 1024 * 1024
  const { id } = taskIn(
    await client.sendMessage(
      request({
        text: script({ flood: said }, { speak: 'the last words' }, { hang: true }),
        metadata: stage.inWorkspace,
        configuration: { returnImmediately: true },
      }),
    ),
  )
  const { hostname, port, host } = new URL(stage.url())
  const readers = 3
  const silent = Array.from({ length: readers }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    socket.pause()
    socket.write(
      `POST /a2a/tasks/${id}:subscribe HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${stage.token()}\r\nA2A-Version: 1.0\r\nContent-Length: 0\r\n\r\n`,
    )
    return socket
  })
  // Meanwhile one that reads hears all of it.
  const heard = await fetch(`${stage.url()}/a2a/tasks/${id}:subscribe`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stage.token()}`, 'A2A-Version': '1.0' },
  })
  await untilSaid(heard, 'the last words')

  const cuts = () => stage.log().split('the reader took nothing for 10000 ms').length - 1
  await until(() => cuts() >= readers, 90_000)
  for (const socket of silent) {
    let got = 0
    socket.on('data', (chunk: Buffer) => (got += chunk.length))
    socket.resume()
    await until(() => socket.closed || socket.readableEnded, 60_000)
    // Cut in the middle: neither the end of the answer nor all that was said had come.
    expect(got).toBeGreaterThan(0)
    expect(got).toBeLessThan(said)
    socket.destroy()
  }

  const again = await fetch(`${stage.url()}/a2a/tasks/${id}:subscribe`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stage.token()}`, 'A2A-Version': '1.0' },
  })
  await untilSaid(again, 'the last words')
  const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined })
  expect(cancelled.status?.state).toBe(5)
}, 240_000)

/** Reads a stream until these words have come, and leaves it. */
async function untilSaid(response: Response, words: string): Promise<void> {
  let last = ''
  for await (const chunk of response.body!) {
    last = last.slice(-words.length) + Buffer.from(chunk).toString('latin1')
    if (last.includes(words)) return
  }
  throw new Error(`the stream ended without: ${words}`)
}

test('gRPC is spoken by TLS where the daemon has a certificate, and by nothing else', async () => {
  await writeFile(join(folder, 'cert.pem'), cert)
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 })
  const files = `{ cert: ${join(folder, 'cert.pem')}, key: ${join(folder, 'key.pem')} }`
  const secure = await startA2A(`a2a: { grpcPort: 0 }\nserver: { tls: ${files} }\n`)
  try {
    const card = json<AgentCard>(await pawl(secure.home, ['a2a', 'card', '--json']))
    const at = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')!.url
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${secure.token()}`)
    metadata.set('a2a-version', '1.0')
    const ask = (channel: ReturnType<typeof credentials.createSsl>, options = {}) => {
      const client = new Client(at, channel, options)
      const { path, requestSerialize, responseDeserialize } = A2AService.getTask
      return new Promise<Task>((done, fail) => {
        const deadline = new Date(Date.now() + 20_000)
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          { tenant: '', id: 'x', historyLength: undefined },
          metadata,
          { deadline },
          (error, task) => (error ? fail(error) : done(task as Task)),
        )
      }).finally(() => client.close())
    }
    const named = { 'grpc.ssl_target_name_override': name }
    const codeOf = (asked: Promise<Task>) => asked.then(() => status.OK).catch((error: ServiceError) => error.code)
    expect(await codeOf(ask(credentials.createSsl(Buffer.from(cert)), named))).toBe(status.NOT_FOUND)
    expect(await codeOf(ask(credentials.createInsecure()))).toBe(status.UNAVAILABLE)
    // Whose certificate nobody vouches for is not spoken to.
    expect(await codeOf(ask(credentials.createSsl(), named))).toBe(status.UNAVAILABLE)
  } finally {
    await secure.stop()
  }
}, 120_000)

/** Says how much would come, and sends none of it. */
const announce = (path: string, bytes: number) =>
  new Promise<{ status: number | undefined; body: unknown }>((done, fail) => {
    const headers = { authorization: `Bearer ${stage.token()}`, 'content-type': 'application/json', 'content-length': bytes }
    const sent = httpRequest(`${stage.url()}${path}`, { method: 'POST', headers, agent: false }, async (response) => {
      const pieces = await response.toArray()
      sent.destroy()
      done({ status: response.statusCode, body: JSON.parse(Buffer.concat(pieces).toString()) })
    })
    sent.on('error', fail).flushHeaders()
  })

async function count(): Promise<number> {
  const response = await fetch(`${stage.url()}/a2a/tasks`, {
    headers: { Authorization: `Bearer ${stage.token()}`, 'A2A-Version': '1.0' },
  })
  return ((await response.json()) as { totalSize: number }).totalSize
}
