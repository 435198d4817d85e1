import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { PawlError } from '../../domain/error.ts'
import { connectAsNamed, createHttpClient, discard, type HttpClient, NoAnswer, readBody } from './http-client.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function serving(listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}
function client(options?: { keep: boolean }): HttpClient {
  const made = createHttpClient(connectAsNamed, options)
  ends.push(made.close)
  return made
}
const soon = () => AbortSignal.timeout(5_000)
const textOf = async (url: URL, mostBytes: number) =>
  (await readBody(await client().send(url, { headers: { 'accept-encoding': 'gzip' }, signal: soon() }), mostBytes)).toString()

describe('a request', () => {
  it('says what was given, and no more than our name, the host and the length beside', async () => {
    const url = await serving((request, response) => {
      request.resume().on('end', () => response.end(JSON.stringify([request.method, request.url, request.headers])))
    })
    const target = new URL('/a?b=c', url)
    const answer = await client().send(target, { method: 'PUT', headers: { 'x-a': '1' }, body: 'héllo', signal: soon() })
    expect(JSON.parse((await readBody(answer, 10_000)).toString())).toEqual([
      'PUT',
      '/a?b=c',
      { host: url.host, 'user-agent': 'Pawl', 'content-length': '6', 'x-a': '1', connection: 'close' },
    ])
  })

  it('is not sent on by a redirect, nor in another protocol', async () => {
    let asked = 0
    const url = await serving((_, response) => {
      asked++
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    const answer = await client().send(url, { signal: soon() })
    await discard(answer)
    expect([answer.statusCode, asked]).toEqual([302, 1])
    await expect(client().send(new URL('file:///etc/passwd'), { signal: soon() })).rejects.toThrow('file: is not spoken here')
  })

  it('goes over one connection after the other, or over one that is kept', async () => {
    const ports = new Set<number | undefined>()
    const url = await serving((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('x')
    })
    const kept = client({ keep: true })
    for (let at = 0; at < 3; at++) await readBody(await kept.send(url, { signal: soon() }), 10)
    expect(ports.size).toBe(1)
    for (let at = 0; at < 3; at++) await readBody(await client().send(url, { signal: soon() }), 10)
    expect(ports.size).toBe(4)
  })

  it('is refused by who opens connections, in those words', async () => {
    const refusing = createHttpClient(async () => {
      throw new PawlError('denied', 'Not there.')
    })
    await expect(refusing.send(new URL('http://example.com/'), { signal: soon() })).rejects.toThrow('Not there.')
  })
})

describe('an answer', () => {
  it('is bounded by what it unpacks to', async () => {
    const url = await serving((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000, 'x')))
    })
    expect(await textOf(url, 1_000_000)).toHaveLength(1_000_000)
    await expect(textOf(url, 999_999)).rejects.toThrow(/The answer is larger than/)
  })

  it('that begins and never ends is given up at the deadline, with its reason', async () => {
    const url = await serving((_, response) => void response.writeHead(200).write('begun'))
    const answer = await client().send(url, { signal: AbortSignal.timeout(100) })
    await expect(readBody(answer, 1_000)).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('that never begins is given up at the deadline, with its reason', async () => {
    const url = await serving(() => undefined)
    await expect(client().send(url, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({ name: 'TimeoutError' })
    await expect(client().send(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('that is no HTTP is none, and neither is a closed port', async () => {
    const server = createPlainServer((socket) => socket.end('hello\r\n\r\n').resume()).listen(0, '127.0.0.1')
    await new Promise((done) => server.once('listening', done))
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await expect(client().send(url, { signal: soon() })).rejects.toBeInstanceOf(NoAnswer)
    await new Promise((done) => server.close(done))
    await expect(client().send(url, { signal: soon() })).rejects.toMatchObject({
      code: 'unavailable',
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('that is thrown away may be endless', async () => {
    const url = await serving((_, response) => {
      const flood = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      }
      response.on('drain', flood)
      flood()
    })
    await discard(await client().send(url, { signal: soon() }))
  })
})
