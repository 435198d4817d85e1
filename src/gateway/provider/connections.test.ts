import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { GoneSignal } from '../client/gone.ts'
import type { Source } from './source.ts'
import { createUpstream, type UpstreamRequest } from './upstream.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function start(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected: string[] = []
  server.on('connection', ({ remotePort }) => connected.push(String(remotePort)))
  const upstream = createUpstream({ clock: systemClock, limits: { connectMs: 5_000, firstByteMs: 5_000 } })
  closers.push(
    () => upstream.close(),
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const signal = new GoneSignal()
  const send = (other: Partial<UpstreamRequest> = {}) =>
    upstream.send({ method: 'POST', baseUrl, path: '/', headers: [], body: Buffer.from('{}'), signal, ...other })
  const ask = async () => textOf(await send())
  return { server, upstream, connected, send, ask }
}

const textOf = (source: Source) =>
  new Promise<string>((resolve, reject) => {
    const got: Buffer[] = []
    source.read({
      data: (bytes) => void got.push(bytes),
      end: (isWhole) => (isWhole ? resolve(String(Buffer.concat(got))) : reject(new Error('broken off'))),
    })
  })

it('a connection serves one request after the other, and others are opened beside it', async () => {
  const { connected, ask } = await start((request, response) => response.end(String(request.socket.remotePort)))
  expect([await ask(), await ask(), await ask()]).toEqual([connected[0], connected[0], connected[0]])
  expect(new Set(await Promise.all([ask(), ask()])).size).toBe(2)
  expect(connected).toHaveLength(2)
})

it.each([
  ['that the server closes after an answer', { connection: 'close' }],
  ['that the server would close in a moment', { connection: 'keep-alive', 'keep-alive': 'timeout=1' }],
])('one is not kept %s', async (_, headers) => {
  const { connected, ask } = await start((_request, response) => response.writeHead(200, headers).end('{}'))
  for (let n = 0; n < 2; n++) await ask()
  expect(connected).toHaveLength(2)
})

it('one that has ended while nobody used it is not used again', async () => {
  const { server, connected, ask } = await start((_, response) => response.end('{}'))
  await ask()
  server.closeAllConnections()
  await new Promise((seen) => setTimeout(seen, 50))
  expect(await ask()).toBe('{}')
  expect(connected).toHaveLength(2)
})

it('one that breaks as soon as it is used again had ended before: it is asked once more, by a new one', async () => {
  let count = 0
  const { connected, ask } = await start((request, response) => (++count === 2 ? request.socket.destroy() : response.end('{}')))
  expect([await ask(), await ask()]).toEqual(['{}', '{}'])
  expect(connected).toHaveLength(2)
})

it('one whose answer was not read to its end is not used again', async () => {
  const { connected, send } = await start((_, response) => void response.write('{'))
  const answer = await send()
  answer.destroy()
  const other = await send()
  other.destroy()
  expect(connected).toHaveLength(2)
})

it('one whose answer came before all was asked is not used again', async () => {
  const { connected, ask, send } = await start((request, response) => {
    if (request.headers['x-large']) request.pause()
    response.end('{}')
  })
  expect(await textOf(await send({ headers: ['x-large', '1'], body: Buffer.alloc(20_000_000) }))).toBe('{}')
  expect(await ask()).toBe('{}')
  expect(connected).toHaveLength(2)
})

it('what was never sent is known to be so', async () => {
  const { connected, ask, send } = await start((_, response) => response.end('{}'))
  await ask()
  const signal = new GoneSignal()
  signal.abort()
  await expect(send({ signal })).rejects.toMatchObject({ wasSent: false })
  expect(await ask()).toBe('{}')
  expect(connected).toHaveLength(1)
})

it('what may have arrived before its connection ended may have been served, also if nobody is there any more', async () => {
  let count = 0
  const { server, ask, send } = await start((request, response) => {
    if (++count === 1) return response.end('{}')
    server.close()
    request.socket.destroy()
  })
  await ask()
  await expect(send()).rejects.toMatchObject({ kind: 'unavailable', wasSent: true })
  expect(count).toBe(2)
})

it('after the end none is kept', async () => {
  const { server, upstream, ask } = await start((_, response) => response.end('{}'))
  await ask()
  upstream.close()
  await ask()
  const left = () =>
    new Promise<number>((resolve, reject) => server.getConnections((error, open) => (error ? reject(error) : resolve(open))))
  await expect.poll(left).toBe(0)
})

it('one that brings what nobody asked for is not used again', async () => {
  const { server, connected, ask } = await start((_, response) => response.end('{}'))
  server.on('connection', (socket) => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfake'), 60))
  expect(await ask()).toBe('{}')
  await new Promise((seen) => setTimeout(seen, 150))
  expect(await ask()).toBe('{}')
  expect(connected).toHaveLength(2)
})

it('what is asked arrives as it was given, however large it is', async () => {
  const { send } = await start(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.end(
      JSON.stringify({ headers: request.rawHeaders, url: request.url, body: Buffer.concat(chunks).toString('latin1') }),
    )
  })
  for (const size of [0, 1, 16 * 1024, 16 * 1024 + 1, 3_000_000]) {
    const body = Buffer.alloc(size, '\xe9\0\r\n', 'latin1')
    const said = JSON.parse(await textOf(await send({ path: '/a?b=%20', headers: ['X-Case', 'v\xe9'], body })))
    expect(said.body === body.toString('latin1')).toBe(true)
    expect(said.headers.slice(4)).toEqual(['content-length', String(size), 'X-Case', 'v\xe9'])
    expect(said.url).toBe('/a?b=%20')
  }
})

it.each([
  ['a path', { path: '/a b' }],
  ['a path with a second line', { path: '/a\r\nx:y' }],
  ['a value', { headers: ['x-api-key', 'a\r\nx: y'] }],
  ['a value that is no Latin', { headers: ['x-api-key', 'ключ'] }],
  ['a name', { headers: ['x: y\r\nz', 'a'] }],
])('%s that would not stay in its line goes nowhere', async (_, other) => {
  const { connected, send } = await start((_request, response) => response.end('{}'))
  await expect(async () => send(other)).rejects.toThrow(TypeError)
  expect(connected).toEqual([])
})

it('no more is read than is wanted, and the rest when it is', async () => {
  const size = 60_000_000
  const { ask, send, connected } = await start((request, response) => {
    if (request.headers['x-size']) response.end(Buffer.alloc(size))
    else response.end('{}')
  })
  const answer = await send({ headers: ['x-size', '1'] })
  let got = 0
  const whole = new Promise<boolean>((end) =>
    answer.read({
      data(bytes) {
        if (got === 0) answer.pause()
        got += bytes.length
      },
      end,
    }),
  )
  await new Promise((waited) => setTimeout(waited, 100))
  expect(got).toBeLessThan(size / 10)
  answer.resume()
  expect(await whole).toBe(true)
  expect(got).toBe(size)
  expect(await ask()).toBe('{}')
  expect(connected).toHaveLength(1)
})

it('an answer that nobody reads yet waits, and one that has ended is told to whoever reads it', async () => {
  const { send } = await start((request, response) => void response.end(Buffer.alloc(Number(request.headers['x-size']))))
  for (const size of [0, 10, 5_000_000]) {
    const answer = await send({ headers: ['x-size', String(size)] })
    await new Promise((waited) => setTimeout(waited, 50))
    expect((await textOf(answer)).length).toBe(size)
  }
})
