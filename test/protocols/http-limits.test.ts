import https from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { maxBodyBytes, maxTaskBodyBytes } from '../../src/surfaces/http/body.ts'
import { fakeRuntime } from '../fake-runtime.ts'
import { bearer, exchange, type Listening, listening, surfaceOver } from '../http-peer.ts'
import { selfSigned } from '../self-signed.ts'

let peer: Listening
let task: string
beforeAll(async () => {
  peer = await listening()
  task = (await peer.runtime.createTask({ prompt: 'p' }, { by: 'test' })).task.id
})
afterAll(() => peer.surface.stop())

/** A POST on a connection that the client would keep: only the server closes it. */
const post = (path: string, headers: string[], body: string | Buffer) => {
  const head = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${peer.port}`, `Authorization: ${bearer}`, ...headers, '', ''].join(
    '\r\n',
  )
  return exchange(peer.port, Buffer.concat([Buffer.from(head), Buffer.from(body)]))
}
const json = 'Content-Type: application/json'
const closing = 'Connection: close'
const withLength = (body: string | Buffer) => [json, `Content-Length: ${Buffer.byteLength(body)}`]
const createdSince = (count: number) => peer.runtime.calls.slice(count).filter(([verb]) => verb === 'createTask').length

test('a prompt of ten million bytes is taken, newlines and all', async () => {
  for (const prompt of ['x'.repeat(10_000_000), '"\n'.repeat(5_000_000), 'ü'.repeat(5_000_000)]) {
    const body = JSON.stringify({ prompt })
    expect((await post('/api/v1/tasks', [...withLength(body), closing], body)).status).toBe(201)
  }
})

test('a prompt over ten million bytes is refused with a sentence that says what to do', async () => {
  const body = JSON.stringify({ prompt: 'x'.repeat(10_000_001) })
  const answer = await post('/api/v1/tasks', [...withLength(body), closing], body)
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('put the material into a file of the workspace')
})

test('a body over the limit is answered with 413 at once and the connection is closed', async () => {
  const calls = peer.runtime.calls.length
  for (const [path, limit] of [
    ['/api/v1/tasks', maxTaskBodyBytes],
    [`/api/v1/tasks/${task}/cancel`, maxBodyBytes],
  ] as const) {
    const body = 'x'.repeat(limit + 1)
    const stated = await post(path, withLength(body), body)
    const onlyStated = await post(path, [json, `Content-Length: ${10 * limit}`], '{')
    const chunked = await post(path, [json, 'Transfer-Encoding: chunked'], `${(limit + 1).toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    for (const answer of [stated, onlyStated, chunked]) {
      expect(answer.status).toBe(413)
      expect(answer.text).toMatch(/connection: close/i)
      expect(answer.ms).toBeLessThan(15_000)
    }
  }
  expect(peer.runtime.calls.length).toBe(calls)
})

test('a chunked body within the limit is taken', async () => {
  const body = '{"prompt":"chunked"}'
  const answer = await post(
    '/api/v1/tasks',
    [json, 'Transfer-Encoding: chunked', closing],
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  )
  expect(answer.status).toBe(201)
})

test('a client that leaves in the middle of its body makes no task and is no failure of ours', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', now: () => 0, write: (line) => lines.push(line) })
  const own = await listening({ log })
  const head = `POST /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:${own.port}\r\nAuthorization: ${bearer}\r\n${json}\r\n`
  for (const [i, framing] of [
    'Content-Length: 100\r\n\r\n{"prompt"',
    'Transfer-Encoding: chunked\r\n\r\n64\r\n{"prompt"',
  ].entries()) {
    await exchange(own.port, head + framing, (socket) => void setTimeout(() => socket.destroy(), 50))
    await expect.poll(() => lines.filter((line) => line.includes('"status":400')).length).toBe(i + 1)
  }
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  expect(own.runtime.calls).toEqual([])
  await own.surface.stop()
})

test('a compressed body is refused unread', async () => {
  const calls = peer.runtime.calls.length
  const bomb = gzipSync(Buffer.alloc(10_000_000, '{"prompt":"'))
  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity', 'GZIP']) {
    const answer = await post('/api/v1/tasks', [...withLength(bomb), `Content-Encoding: ${encoding}`], bomb)
    expect(answer.status).toBe(415)
  }
  expect(createdSince(calls)).toBe(0)
})

test('only JSON is taken', async () => {
  const calls = peer.runtime.calls.length
  const body = '{"prompt":"p"}'
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/problem+json',
    '',
  ]
  for (const type of types) {
    const headers = [...(type ? [`Content-Type: ${type}`] : []), `Content-Length: ${body.length}`, closing]
    expect((await post('/api/v1/tasks', headers, body)).status, type).toBe(415)
  }
  expect(createdSince(calls)).toBe(0)
  const withCharset = ['Content-Type: Application/JSON; charset=utf-8', `Content-Length: ${body.length}`, closing]
  expect((await post('/api/v1/tasks', withCharset, body)).status).toBe(201)
})

test('broken JSON and JSON of another shape are refused, deep nesting included', async () => {
  for (const body of [
    '',
    '{',
    '{"prompt":"p"}x',
    '[]',
    'null',
    '1',
    '"p"',
    '{"prompt":1}',
    '{}',
    '['.repeat(500_000),
    '{"__proto__":{"prompt":"p"}}',
    '\u0000',
  ]) {
    const answer = await post('/api/v1/tasks', [...withLength(body), closing], body)
    expect(answer.status, body.slice(0, 20)).toBe(400)
    expect(answer.text).not.toMatch(/node_modules|\.ts|at .*:\d+/)
  }
})

test('malformed and smuggling HTTP is answered with 400 and a closed connection, without a word about our insides', async () => {
  const calls = peer.runtime.calls.length
  const host = `Host: 127.0.0.1:${peer.port}\r\nAuthorization: ${bearer}\r\n${json}\r\n`
  const hidden = `GET /api/v1/tasks HTTP/1.1\r\n${host}\r\n`
  const attempts = {
    'length and chunks': `POST /api/v1/tasks HTTP/1.1\r\n${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    'two lengths': `POST /api/v1/tasks HTTP/1.1\r\n${host}Content-Length: 4\r\nContent-Length: 40\r\n\r\n{}  ${hidden}`,
    'bad chunk size': `POST /api/v1/tasks HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    'negative length': `POST /api/v1/tasks HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
    'chunked twice': `POST /api/v1/tasks HTTP/1.1\r\n${host}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    'bare LF': `GET /api/v1/tasks HTTP/1.1\n${host.replaceAll('\r\n', '\n')}\n`,
    'space before the colon': `GET /api/v1/tasks HTTP/1.1\r\nHost : 127.0.0.1:${peer.port}\r\n\r\n`,
    'no HTTP at all': '\u0016\u0003\u0001\u0000\r\n\r\n',
    'unknown version': `GET /api/v1/tasks HTTP/9.9\r\n${host}\r\n`,
  }
  for (const [name, text] of Object.entries(attempts)) {
    const answer = await exchange(peer.port, text)
    expect([400, 505], name).toContain(answer.status)
    expect(answer.text.match(/HTTP\/1\.1 /g), name).toHaveLength(1)
    expect(answer.text, name).not.toMatch(/node_modules|\.ts|Error|at .*:\d+/)
  }
  expect(peer.runtime.calls.length).toBe(calls)
})

test('headers over 16 KiB are refused', async () => {
  const answer = await exchange(
    peer.port,
    `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${peer.port}\r\nX-Big: ${'x'.repeat(17_000)}\r\n\r\n`,
  )
  expect(answer.status).toBe(431)
})

test('a stranger with a large body is sent away unread', async () => {
  const head = `POST /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:${peer.port}\r\n${json}\r\nContent-Length: 2000000\r\n\r\n`
  const answer = await exchange(peer.port, head + 'x'.repeat(100))
  expect(answer.status).toBe(401)
  expect(answer.ms).toBeLessThan(15_000)
})

test('clients that send their headers or bodies slowly, or never read, do not hold back the others', async () => {
  const flood = { type: 'agent.message', data: { text: 'x'.repeat(60_000) } } as const
  peer.runtime.emit(task, ...Array.from({ length: 50 }, () => flood))
  const host = `Host: 127.0.0.1:${peer.port}`
  const beginnings = [
    `GET /healthz HTTP/1.1\r\n${host}\r\nX-Slow: `,
    `POST /api/v1/tasks HTTP/1.1\r\n${host}\r\nAuthorization: ${bearer}\r\n${json}\r\nContent-Length: 1000\r\n\r\n{`,
    `GET /api/v1/tasks/${task}/events HTTP/1.1\r\n${host}\r\nAuthorization: ${bearer}\r\n\r\n`,
  ]
  const slow = beginnings.flatMap((beginning) =>
    Array.from({ length: 100 }, () =>
      connect(peer.port, '127.0.0.1', function (this: Socket) {
        this.pause()
        this.on('error', () => undefined)
        this.write(beginning)
      }),
    ),
  )
  const dribble = setInterval(() => {
    for (const socket of slow.slice(0, 200)) if (socket.writable) socket.write('x')
  }, 100)
  try {
    const spent: number[] = []
    for (let i = 0; i < 50; i++) {
      const good = await exchange(peer.port, `GET /healthz HTTP/1.1\r\n${host}\r\n${closing}\r\n\r\n`)
      expect(good.status).toBe(200)
      spent.push(good.ms)
    }
    expect(spent.toSorted((a, b) => a - b)[Math.floor(spent.length * 0.9)]).toBeLessThan(500)
  } finally {
    clearInterval(dribble)
    for (const socket of slow) socket.destroy()
  }
})

test('500 with slow headers, 500 with slow bodies and 500 that never read keep nobody out, and the slow headers end after 10 s with 408', async () => {
  // One of its own: the lists of the other are long by now, and it is the waiting that is measured.
  const own = await listening({})
  const { id } = (await own.runtime.createTask({ prompt: 'p' }, { by: 'test' })).task
  own.runtime.emit(
    id,
    ...Array.from({ length: 50 }, () => ({ type: 'agent.message', data: { text: 'x'.repeat(60_000) } }) as const),
  )
  const host = `Host: 127.0.0.1:${own.port}`
  const startedAt = performance.now()
  const steadily = (socket: Socket) => {
    const dribble = setInterval(() => socket.writable && socket.write('x'), 500)
    socket.once('close', () => clearInterval(dribble))
  }
  const headers = Array.from({ length: 500 }, () => exchange(own.port, `GET /healthz HTTP/1.1\r\n${host}\r\nX-Slow: `, steadily))
  const others = [
    `POST /api/v1/tasks HTTP/1.1\r\n${host}\r\nAuthorization: ${bearer}\r\n${json}\r\nContent-Length: 1000\r\n\r\n{`,
    `GET /api/v1/tasks/${id}/events HTTP/1.1\r\n${host}\r\nAuthorization: ${bearer}\r\n\r\n`,
  ].flatMap((beginning, kind) =>
    Array.from({ length: 500 }, () => {
      const socket = connect(own.port, '127.0.0.1', () => void socket.write(beginning)).on('error', () => undefined)
      socket.pause()
      if (kind === 0) steadily(socket)
      return socket
    }),
  )
  let left = headers.length
  for (const one of headers) void one.then(() => left--)
  // Readers with a long history ahead of them must not keep the others out until all of it is sent.
  await expect.poll(() => own.runtime.followers(), { timeout: 15_000 }).toBe(500)
  let answered = 0
  const good = async () => {
    while (left > 0) {
      const answer = await exchange(
        own.port,
        `GET /api/v1/me HTTP/1.1\r\n${host}\r\nAuthorization: ${bearer}\r\n${closing}\r\n\r\n`,
      )
      expect(answer.status).toBe(200)
      answered++
      await new Promise((later) => setTimeout(later, 500))
    }
  }
  try {
    await Promise.all(Array.from({ length: 50 }, good))
    expect(performance.now() - startedAt).toBeGreaterThan(9_000)
    expect(new Set((await Promise.all(headers)).map(({ status }) => status))).toEqual(new Set([408]))
    // How quickly, bench/slow-clients.ts measures: here others share the cores.
    expect(answered).toBeGreaterThan(50)
  } finally {
    for (const socket of others) socket.destroy()
    await own.surface.stop()
  }
}, 40_000)

test('the same create sent 50 times at once with one key makes one task', async () => {
  const body = '{"prompt":"once"}'
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => post('/api/v1/tasks', [...withLength(body), 'Idempotency-Key: k-50', closing], body)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(49).fill(200), 201])
  expect(new Set(answers.map(({ text }) => /"id":"(t_[^"]+)"/.exec(text)?.[1])).size).toBe(1)
})

test('a taken port is a clear refusal if it was asked for by name, and another one if not', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const address = other.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const surface = surfaceOver(fakeRuntime())
  await expect(surface.start({ host: '127.0.0.1', port, portAsked: true })).rejects.toMatchObject({
    code: 'unavailable',
    message: `Port ${port} is taken; choose another with --port or stop the other program.`,
  })
  const { port: found, url } = await surface.start({ host: '127.0.0.1', port, portAsked: false })
  expect(found).not.toBe(port)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  await surface.stop()
  await new Promise((resolve) => other.close(resolve))
})

test('TLS is enough to listen beyond loopback; a certificate and a key that do not belong together are refused with a sentence', async () => {
  const [one, other] = [selfSigned('one.example'), selfSigned('other.example')]
  const surface = surfaceOver(fakeRuntime())
  const at = { host: '0.0.0.0', port: 0, portAsked: false }
  await expect(surface.start({ ...at, tls: { cert: one.cert, key: other.key } })).rejects.toThrow(
    /key in server\.tls\.key is not that of the certificate/,
  )
  await expect(surface.start({ ...at, tls: { cert: 'x', key: 'y' } })).rejects.toMatchObject({ code: 'invalid' })
  const { url, port } = await surface.start({ ...at, tls: one })
  expect(url).toMatch(/^https:/)
  const asked = await new Promise<{ status: number | undefined; version: string | null }>((done, fail) => {
    const sent = https.get(
      { host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, headers: { Host: `127.0.0.1:${port}` } },
      (answer) => {
        answer.resume()
        done({ status: answer.statusCode, version: (answer.socket as TLSSocket).getProtocol() })
      },
    )
    sent.once('error', fail)
  })
  expect(asked).toEqual({ status: 200, version: 'TLSv1.3' })
  const plain = await exchange(port, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${closing}\r\n\r\n`)
  expect(plain.text).not.toContain('ok')
  await surface.stop()
})

test('listening beyond loopback is refused unless plain HTTP was asked for by name', async () => {
  const surface = surfaceOver(fakeRuntime())
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.test']) {
    await expect(surface.start({ host, port: 0, portAsked: false })).rejects.toMatchObject({ code: 'invalid' })
  }
  const { port } = await surface.start({ host: '0.0.0.0', port: 0, portAsked: false, insecurePlainHttp: true })
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(401)
  await surface.stop()
})
