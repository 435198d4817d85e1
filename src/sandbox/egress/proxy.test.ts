import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { type OpenedDoor, openDoor } from '../../engine/endpoint/testing.ts'
import { proxyEnvironment } from './environment.ts'
import { listen, openTunnel, speak, startCanary, startWebServer, ways } from './testing.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
const closing = <T extends { close(): Promise<unknown> }>(part: T): T => {
  closers.push(() => part.close())
  return part
}

async function opened(options: Parameters<typeof openDoor>[0] = {}): Promise<OpenedDoor> {
  const door = await openDoor(options)
  closing(door.door)
  return door
}

/** `site.example` is a server of this test. */
const resolve = async (name: string) => (name.endsWith('site.example') ? ['127.0.0.1'] : [])

/** A server that says nothing by itself and tells of its connections. */
async function quietServer(onConnection: (socket: Socket) => void = () => undefined) {
  const server = createServer({ allowHalfOpen: true }, (socket) => onConnection(socket.on('error', () => undefined)))
  await listen(server)
  closers.push(async () => server.close())
  const address = server.address()
  return { server, port: typeof address === 'object' && address ? address.port : 0 }
}

describe('the way out', () => {
  it('is open to an allowed host and closed to any other, in every protocol', async () => {
    const canary = closing(await startCanary())
    const door = await opened()
    await door.bind({ allow: [`site.example:${canary.port} local`] }, { resolve })
    for (const [name, way] of Object.entries(ways)) {
      const allowed = await way(door.port, Buffer.from('site.example'), canary.port)
      expect([name, allowed.opened, allowed.text.endsWith('canary')]).toEqual([name, true, true])
      for (const [host, port] of [
        ['other.site.example', canary.port],
        ['site.example', 443],
        ['site.example', 1],
      ] as const)
        expect([name, host, (await way(door.port, Buffer.from(host), port)).opened]).toEqual([name, host, false])
    }
    expect(canary.reached()).toBe(4)
  })

  it('says what was refused, by which rule, and where to change it', async () => {
    const door = await opened()
    await door.bind({ deny: ['*.evil.example'] })
    const refused = await speak(door.port, Buffer.from('GET http://a.evil.example/ HTTP/1.1\r\nhost: x\r\n\r\n'))
    expect(refused.text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/)
    expect(refused.text).toContain('x-pawl-denied: *.evil.example\r\n')
    expect(refused.text).toContain(
      'This run may not connect to a.evil.example:80: a rule of network.deny names it. A person can change that in network.allow of the profile "guarded".',
    )
    const connect = await speak(door.port, Buffer.from('CONNECT other.example:443 HTTP/1.1\r\nhost: x\r\n\r\n'))
    expect(connect.text).toContain('x-pawl-denied: no rule\r\n')
  })

  it('passes a request on without what belongs to the connection, and with the host of its target', async () => {
    const seen = Promise.withResolvers<{ request: IncomingMessage; body: string }>()
    const site = closing(
      await startWebServer(async (request, response) => {
        seen.resolve({ request, body: await text(request) })
        response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'keep-alive': 'timeout=5', 'x-own': 'kept' }).end('made')
      }),
    )
    const door = await opened()
    await door.bind({ allow: [`site.example:${site.port} local`] }, { resolve })
    const { text: answer } = await speak(
      door.port,
      Buffer.from(
        [
          `DELETE http://SITE.example:${site.port}/a/../b?c=%2f HTTP/1.1`,
          ...['host: other.example', 'proxy-authorization: Basic eA==', 'connection: x-gone', 'x-gone: 1', 'x-kept: 2'],
          ...['transfer-encoding: chunked', '', '3', 'abc', '2', 'de', '0', '', ''],
        ].join('\r\n'),
      ),
    )
    const { request, body } = await seen.promise
    expect([request.method, request.url, body]).toEqual(['DELETE', '/a/../b?c=%2f', 'abcde'])
    expect(request.headers).toEqual({
      host: `site.example:${site.port}`,
      'x-kept': '2',
      'transfer-encoding': 'chunked',
      connection: 'close',
    })
    expect(answer).toMatch(/^HTTP\/1\.1 201 Created\r\n/)
    expect(answer).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\n')
    expect(answer.match(/^connection: .*$/gim)).toEqual(['connection: close'])
    expect(answer).not.toContain('keep-alive')
    expect(answer).toContain('made')
  })

  it('lets a WebSocket through', async () => {
    const site = closing(await startWebServer((_, response) => response.end()))
    site.server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n')
      socket.pipe(socket)
    })
    const door = await opened()
    await door.bind({ allow: [`site.example:${site.port} local`] }, { resolve })
    const socket = connect(door.port, '127.0.0.1')
    socket.write(`GET http://site.example:${site.port}/ HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /)
    socket.write('hello')
    expect(String((await once(socket, 'data'))[0])).toBe('hello')
    socket.destroy()
  })

  it('serves a real client by the variables of its environment, and leaves its own loopback alone', async () => {
    const site = closing(await startWebServer((request, response) => response.end(`host ${request.headers.host}`)))
    const door = await opened()
    await door.bind({ allow: [`site.example:${site.port} local`] }, { resolve })
    const program = `for (const host of ['site.example', 'refused.example', '127.0.0.1'])
      await fetch('http://' + host + ':${site.port}/').then(
        async (response) => console.log(response.status, await response.text()),
        (error) => console.log(error.cause.cause.message))`
    const env = { ...proxyEnvironment(door.url), PATH: process.env.PATH ?? '' }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^200 host site\.example/),
      expect.stringContaining('Proxy response (403)'),
      `200 host 127.0.0.1:${site.port}`,
      '',
    ])
  })

  it('resolves a name once and connects to just that address', async () => {
    const canary = closing(await startCanary())
    const first = createServer((socket) => socket.on('error', () => undefined).end('first'))
    await listen(first, '127.0.0.2', canary.port)
    closers.push(async () => first.close())
    const answers = [['127.0.0.2'], ['127.0.0.1']]
    const door = await opened()
    await door.bind({ allow: [`rebinds.example:${canary.port} local`] }, { resolve: async () => answers.shift() ?? [] })
    const { text: said } = await ways.connect(door.port, Buffer.from('rebinds.example'), canary.port)
    expect(said).toMatch(/first$/)
    expect([answers.length, canary.reached()]).toEqual([1, 0])
  })

  it('asks a person once about a host that a rule of ask names, and refuses until it is granted', async () => {
    const canary = closing(await startCanary())
    const door = await opened()
    const ask = [`site.example:${canary.port} local`]
    await door.bind({ ask }, { resolve })
    for (const way of Object.values(ways))
      expect((await way(door.port, Buffer.from('site.example'), canary.port)).opened).toBe(false)
    expect(door.asked).toEqual([{ host: 'site.example', port: canary.port }])
    const { text: answer } = await ways.http(door.port, Buffer.from('site.example'), canary.port)
    expect(answer).toContain('was asked; a person answers it')
    expect(canary.reached()).toBe(0)
    await door.bind({ ask, granted: [`site.example:${canary.port}`] }, { resolve })
    expect((await ways.socks5(door.port, Buffer.from('site.example'), canary.port)).opened).toBe(true)
  })

  it('does not claim that it asked when the question could not be stored, and asks about ten hosts at most', async () => {
    const door = await opened()
    await door.bind({ ask: ['*'] }, { ask: () => Promise.reject(new Error('the database is gone')) })
    expect((await ways.http(door.port, Buffer.from('a.example'), 80)).text).toContain('a rule of network.ask names it')
    await door.bind({ ask: ['*'] })
    for (let n = 0; n < 15; n++) await ways.http(door.port, Buffer.from(`host${n}.example`), 80)
    expect(door.asked).toHaveLength(10)
  })

  it('tells of each decision once, and at the end how often and how much', async () => {
    const canary = closing(await startCanary())
    const door = await opened()
    await door.bind({ allow: [`site.example:${canary.port} local`] }, { resolve })
    for (let n = 0; n < 3; n++) {
      await ways.connect(door.port, Buffer.from('site.example'), canary.port)
      await ways.socks5(door.port, Buffer.from('no.example'), 443)
    }
    await ways.http(door.port, Buffer.from('a b\x1b[31m'), 80)
    await door.door.bind(undefined)
    const rule = `site.example:${canary.port} local`
    expect(door.events).toEqual([
      {
        type: 'network.decided',
        data: {
          host: 'site.example',
          port: canary.port,
          verdict: 'allow',
          rule,
          why: 'a rule of network.allow names it',
          via: 'connect',
        },
      },
      {
        type: 'network.decided',
        data: { host: 'no.example', port: 443, verdict: 'deny', why: 'no rule names it', via: 'socks5' },
      },
      {
        type: 'network.used',
        data: {
          hosts: [
            { host: 'site.example', port: canary.port, verdict: 'allow', times: 3, sent: 0, received: 3 * 63 },
            { host: 'no.example', port: 443, verdict: 'deny', times: 3, sent: 0, received: 0 },
          ],
          others: 0,
        },
      },
    ])
  })

  it('fills the journal with no more than two hundred hosts', async () => {
    const door = await opened()
    await door.bind({})
    await Promise.all(Array.from({ length: 230 }, (_, n) => ways.socks5(door.port, Buffer.from(`h${n}.example`), 443)))
    await door.door.bind(undefined)
    expect(door.events).toHaveLength(201)
    expect(door.events.at(-1)?.data).toMatchObject({ others: 30 })
  })
})

describe('the end of a run', () => {
  it('cuts what is open and lets nothing through until the next run has the door', async () => {
    const met = Promise.withResolvers<Socket>()
    const { port } = await quietServer(met.resolve)
    const door = await opened()
    const allow = [`127.0.0.1:${port}`]
    await door.bind({ allow })
    const tunnel = await openTunnel(door.port, `127.0.0.1:${port}`)
    const inner = await met.promise
    const [cutHere, cutThere] = [once(tunnel, 'close'), once(inner.resume(), 'end')]
    await door.door.bind(undefined)
    await Promise.all([cutHere, cutThere])
    for (const [name, way] of Object.entries(ways)) {
      const { opened: isOpen, text: said } = await way(door.port, Buffer.from('127.0.0.1'), port)
      expect([name, isOpen]).toEqual([name, false])
      if (said.startsWith('HTTP')) expect(said).toMatch(/^HTTP\/1\.1 409 /)
    }
    expect(door.events.at(-1)).toMatchObject({ type: 'network.used', data: { hosts: [{ times: 1 }] } })
    await door.bind({ allow })
    ;(await openTunnel(door.port, `127.0.0.1:${port}`)).destroy()
  })

  it('cuts a plain request whose answer is still coming, and one whose host is still looked up', async () => {
    const site = closing(await startWebServer((_, response) => void response.write('begun')))
    const door = await opened()
    const looked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string[]>()
    const slowly = (name: string) => {
      if (name !== 'slow.example') return resolve(name)
      looked.resolve()
      return answer.promise
    }
    await door.bind({ allow: [`site.example:${site.port} local`, `slow.example:${site.port} local`] }, { resolve: slowly })
    const socket = connect(door.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`GET http://site.example:${site.port}/ HTTP/1.1\r\nhost: x\r\n\r\n`)
    await once(socket, 'data')
    const slow = ways.connect(door.port, Buffer.from('slow.example'), site.port)
    await looked.promise
    const cut = once(socket, 'close')
    await door.door.bind(undefined)
    answer.resolve(['127.0.0.1'])
    await cut
    expect((await slow).opened).toBe(false)
    expect(door.events.filter(({ type }) => type === 'network.decided')).toHaveLength(1)
    expect(door.events.at(-1)?.type).toBe('network.used')
  })

  it('leaves nothing open when the door closes, whatever the connections are at', async () => {
    const { port } = await quietServer()
    const door = await opened()
    await door.bind({ allow: [`127.0.0.1:${port}`] })
    const silent = connect(door.port, '127.0.0.1').on('error', () => undefined)
    const halfSocks = connect(door.port, '127.0.0.1').on('error', () => undefined)
    halfSocks.write(Buffer.from([5, 1]))
    const tunnel = await openTunnel(door.port, `127.0.0.1:${port}`)
    const ended = [silent, halfSocks, tunnel].map((socket) => once(socket, 'close'))
    await door.door.close()
    await Promise.all(ended)
  })

  it('waits with the first request of a program until its run has the door', async () => {
    const canary = closing(await startCanary())
    const door = await opened()
    const early = ways.socks5(door.port, Buffer.from('127.0.0.1'), canary.port)
    await once(door.listener, 'connection')
    await door.bind({ allow: [`127.0.0.1:${canary.port}`] })
    expect((await early).opened).toBe(true)
  })

  it('gives a run that has another network no way out here', async () => {
    const door = await opened()
    await door.door.bind({
      describe: () => ({ task: 'task_1', run: 'run_1', attempt: 1 }),
      ask: async () => ({ id: 'question_1' }),
      consult: async () => undefined,
      notify: async () => undefined,
    })
    for (const line of ['GET http://example.org/', 'CONNECT example.org:443', 'GET /model/v1/models'])
      expect((await speak(door.port, Buffer.from(`${line} HTTP/1.1\r\nhost: x\r\n\r\n`))).text).toMatch(/^HTTP\/1\.1 403 /)
  })
})

describe('clients that are slow, broken or many', () => {
  it('are served when they come byte by byte, and when they end their half first', async () => {
    const { port } = await quietServer((socket) => {
      void text(socket).then((said) => socket.end(`you said ${said}`))
    })
    const door = await opened()
    await door.bind({ allow: [`127.0.0.1:${port}`] })
    const socket = connect({ port: door.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    for (const byte of [5, 2, 1, 2, 1, 1, 120, 1, 121, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]) {
      socket.write(Buffer.from([byte]))
      await new Promise((soon) => setImmediate(soon))
    }
    socket.end('hello')
    const said = Buffer.from(await text(socket), 'utf8').toString('latin1')
    expect(said).toMatch(/^\x05\x02\x01\0\x05\0.*you said hello$/s)
  })

  it('leave no connection behind when they go away while their host is looked up', async () => {
    const met = Promise.withResolvers<Socket>()
    const { port } = await quietServer(met.resolve)
    const door = await opened()
    const looked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string[]>()
    const slowly = () => {
      looked.resolve()
      return answer.promise
    }
    await door.bind({ allow: [`slow.example:${port} local`] }, { resolve: slowly })
    const arrived = once(door.listener, 'connection') as Promise<[Socket]>
    const client = connect(door.port, '127.0.0.1')
    client.write(`CONNECT slow.example:${port} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const [accepted] = await arrived
    await looked.promise
    const gone = new Promise((done) => accepted.once('close', done))
    client.resetAndDestroy()
    await gone
    answer.resolve(['127.0.0.1'])
    await once((await met.promise).resume(), 'end')
  })

  it('are dropped when they say nothing, or never finish saying what they want', async () => {
    const door = await opened({ patienceMs: 100 })
    await door.bind({})
    const began = [[], [5], [5, 1, 0, 5, 1], [4, 1, 0, 80, 0, 0, 0, 1, 120]].map((bytes) => {
      const socket = connect(door.port, '127.0.0.1').on('error', () => undefined)
      socket.write(Buffer.from(bytes))
      socket.resume()
      return once(socket, 'close')
    })
    await Promise.all(began)
  })

  it('are refused when their handshake is none', async () => {
    const door = await opened()
    await door.bind({ allow: ['*'] })
    const said = async (bytes: number[]) => (await speak(door.port, Buffer.from(bytes))).text
    expect(await said([5, 1, 1])).toBe('\x05\xff')
    expect(await said([5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80])).toMatch(/^\x05\0\x05\x07/)
    expect(await said([5, 1, 0, 5, 3, 0, 3, 1, 97, 0, 80])).toMatch(/^\x05\0\x05\x07/)
    expect(await said([5, 1, 0, 5, 1, 0, 9, 0, 0])).toMatch(/^\x05\0\x05\x08/)
    expect(await said([4, 2, 0, 80, 1, 1, 1, 1, 0])).toMatch(/^\0\x5b/)
    expect(await said([4, 1, 0, 80, 1, 1, 1, 1, ...new Array(400).fill(97)])).toBe('')
    expect(await said([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('never hold more than 256 connections, however many they open', async () => {
    const canary = closing(await startCanary())
    const door = await opened()
    await door.bind({ allow: [`127.0.0.1:${canary.port}`] })
    let [dropped, accepted] = [0, 0]
    const all = Promise.withResolvers<void>()
    const count = (_: unknown) => dropped + accepted === 1_000 && all.resolve()
    door.listener.on('drop', () => count(void dropped++)).on('connection', () => count(void accepted++))
    const sockets = Array.from({ length: 1_000 }, () => connect(door.port, '127.0.0.1').on('error', () => undefined))
    await all.promise
    expect(accepted).toBe(256)
    const gone = sockets.map((socket) => (socket.destroyed ? undefined : once(socket, 'close')))
    for (const socket of sockets) socket.destroy()
    await Promise.all(gone)
    const free = async (): Promise<boolean> => (await ways.connect(door.port, Buffer.from('127.0.0.1'), canary.port)).opened
    while (!(await free())) await new Promise((soon) => setImmediate(soon))
  })
})
