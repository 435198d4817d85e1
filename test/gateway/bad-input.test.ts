import { once } from 'node:events'
import { type RequestListener, request } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { OverCap } from '../../src/gateway/money/purse.ts'
import type { WireName } from '../../src/gateway/wires/wire.ts'
import { ask, type Got, provider, providerKey, route, routingOf, type Stage, startProvider, startStage, token } from './stage.ts'

const closers: (() => Promise<unknown>)[] = []
const stages: Stage[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
  for (const { ledger, lines } of stages.splice(0)) {
    // Whatever went wrong, every reservation has come to exactly one end.
    expect(ledger).toMatchObject({ open: 0, reserved: { length: ledger.settled.length + ledger.released.length } })
    expect(lines.join()).not.toContain(providerKey)
  }
})

async function staged(wire: WireName, answer: RequestListener, options: Parameters<typeof startStage>[1] = {}) {
  const maker = await startProvider(answer)
  closers.push(maker.close)
  return { maker, stage: await stagedAt(wire, maker.url, options) }
}

async function stagedAt(wire: WireName, url: string, options: Parameters<typeof startStage>[1] = {}) {
  const stage = await startStage(routingOf(route('fast', provider('maker', wire, url))), options)
  closers.push(stage.close)
  stages.push(stage)
  return stage
}

const requests: Record<WireName, { path: string; body: string }> = {
  anthropic: { path: '/v1/messages', body: '{"model":"fast","max_tokens":10,"messages":[]}' },
  'openai-responses': { path: '/v1/responses', body: '{"model":"fast","input":"hi"}' },
  'openai-chat': { path: '/v1/chat/completions', body: '{"model":"fast","messages":[]}' },
  gemini: { path: '/v1beta/models/fast:generateContent', body: '{"contents":[]}' },
  ollama: { path: '/api/chat', body: '{"model":"fast","messages":[]}' },
}
const formats = Object.keys(requests) as WireName[]

const neverAsked: RequestListener = (_, response) => void response.writeHead(500).end('a provider was asked that should not be')

const closed = (stream: Readable) => new Promise<void>((resolve) => stream.once('close', () => resolve()))

/** The sentence of a refusal, which says nothing that is not the client's business. */
function refusalIn({ status, headers, body }: Got): { status: number; message: string } {
  expect(headers['content-type']).toBe('application/json')
  const text = body.toString()
  for (const secret of [providerKey, token, '    at ', '.ts:', 'node:']) expect(text).not.toContain(secret)
  const told = JSON.parse(text) as { error: string | { message: string } }
  return { status, message: typeof told.error === 'string' ? told.error : told.error.message }
}

describe.each(formats)('a client of %s', (wire) => {
  const { path, body } = requests[wire]

  it.each([['wrong'], [`${token}x`], [''], [null]])('is refused with the key %j', async (key) => {
    const { maker, stage } = await staged(wire, neverAsked)
    expect(refusalIn(await ask(stage.url + path, { body, key })).status).toBe(401)
    expect(maker.seen).toEqual([])
    expect(stage.ledger.reserved).toEqual([])
  })

  it.each<[string, string, Record<string, string>]>([
    ['x-api-key', '', { 'x-api-key': token }],
    ['authorization', '', { authorization: `Bearer ${token}` }],
    ['x-goog-api-key', '', { 'x-goog-api-key': token }],
    ['the query', `?key=${token}`, {}],
  ])('may show its token in %s', async (_, query, headers) => {
    const { maker, stage } = await staged(wire, (_, response) => response.end('{}'))
    expect((await ask(stage.url + path + query, { body, headers, key: null })).status).toBe(200)
    expect(maker.seen[0]!.url + JSON.stringify(maker.seen[0]!.headers)).not.toContain(token)
  })

  it.each([['{"model":"fast",'], ['[]'], ['null'], ['"fast"'], [''], ['\u0000\u0001'], ['{"model":"fast"}}']])(
    'is told that %j is not what it should be',
    async (garbage) => {
      const { maker, stage } = await staged(wire, neverAsked)
      const { status, message } = refusalIn(await ask(stage.url + path, { body: garbage }))
      expect(status).toBe(400)
      expect(message).toContain('JSON')
      expect(maker.seen).toEqual([])
    },
  )

  it('is told which models there are if it asks for another', async () => {
    const { maker, stage } = await staged(wire, neverAsked)
    const other = { path: path.replace('fast', 'dear'), body: body.replace('fast', 'dear') }
    const { status, message } = refusalIn(await ask(stage.url + other.path, { body: other.body }))
    expect(status).toBe(404)
    expect(message).toContain('There is no model "dear"; there are fast.')
    expect(maker.seen).toEqual([])
  })

  it('is refused when the cap would be passed, and nothing leaves', async () => {
    const { maker, stage } = await staged(wire, neverAsked, { refuse: () => new OverCap('The task has used up its 5 USD.') })
    const { status, message } = refusalIn(await ask(stage.url + path, { body }))
    expect(status).toBeGreaterThanOrEqual(400)
    expect(message).toContain('The task has used up its 5 USD.')
    expect(maker.seen).toEqual([])
    expect(stage.calls).toMatchObject([{ refusal: { kind: 'over_budget' } }])
  })

  it('is refused at a door that is closed', async () => {
    const { maker, stage } = await staged(wire, neverAsked)
    await stage.door.close()
    const { status, message } = refusalIn(await ask(stage.url + path, { body }))
    expect(status).toBe(403)
    expect(message).toContain('No run is under way here')
    expect(maker.seen).toEqual([])
  })

  it('is told when its provider never answers, and the worst is counted', async () => {
    const { stage } = await staged(wire, () => {}, { limits: { firstByteMs: 50 } })
    const { status, message } = refusalIn(await ask(stage.url + path, { body }))
    expect(status).toBeGreaterThanOrEqual(500)
    expect(message).toMatch(/did not begin to answer within 0.05 seconds/)
    expect(stage.ledger.settled).toMatchObject([{ refusal: { kind: 'timed_out' } }])
    expect(stage.ledger.settled[0]).not.toHaveProperty('usage')
  })

  it('gets no further by a redirect, and no key goes along', async () => {
    const { maker: other } = await staged(wire, neverAsked)
    const { stage } = await staged(wire, (_, response) => response.writeHead(307, { location: `${other.url}/stolen?x=1` }).end())
    const { status, message } = refusalIn(await ask(stage.url + path, { body }))
    expect(status).toBe(403)
    expect(message).toContain(`The provider "maker" answered 307 and pointed to ${other.url}.`)
    expect(other.seen).toEqual([])
    expect(stage.ledger).toMatchObject({ settled: [], released: [{ status: 307 }] })
  })

  it('is told when there is nobody where its provider should be', async () => {
    const { maker, stage } = await staged(wire, neverAsked)
    await maker.close()
    const { status, message } = refusalIn(await ask(stage.url + path, { body }))
    expect(status).toBeGreaterThanOrEqual(500)
    expect(message).toContain('could not be reached (ECONNREFUSED)')
    expect(stage.ledger).toMatchObject({ settled: [], released: [{ refusal: { kind: 'unavailable' } }] })
  })

  it('does not get the key of its provider, even if the provider says it', async () => {
    const { stage } = await staged(wire, (_, response) =>
      response.writeHead(401).end(`{"error":{"message":"bad key ${providerKey}"}}`),
    )
    const got = await ask(stage.url + path, { body })
    expect(got).toMatchObject({ status: 401 })
    expect(got.body.toString()).toBe('{"error":{"message":"bad key [redacted:provider key]"}}')
    expect(JSON.stringify(stage.calls)).not.toContain(providerKey)
  })
})

describe('a body', () => {
  /** Sends all of it before it looks at the answer, as many clients do. */
  async function flood(url: string, totalBytes: number, framing: string) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const isChunked = framing.startsWith('transfer')
    const chunks: Buffer[] = []
    socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${token}\r\nconnection: close\r\n${framing}\r\n\r\n`)
    const piece = Buffer.alloc(1024 * 1024, 0x20)
    for (let size = 0; size < totalBytes; size += piece.length) {
      if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`)
      if (!socket.write(piece)) await once(socket, 'drain')
      if (isChunked) socket.write('\r\n')
    }
    if (isChunked) socket.write('0\r\n\r\n')
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), body }
  }
  const size = 100 * 1024 * 1024

  it.each([
    ['that says its length', `content-length: ${size}`],
    ['that does not', 'transfer-encoding: chunked'],
  ])('of 100 MB %s is refused in the words of the format, and not kept', async (_, framing) => {
    const { maker, stage } = await staged('anthropic', neverAsked, { limits: { maxBodyBytes: 1024 * 1024 } })
    const before = process.memoryUsage().rss
    const { status, body } = await flood(stage.url, size, framing)
    expect(status).toBe(413)
    expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { type: 'request_too_large' } })
    expect(process.memoryUsage().rss - before).toBeLessThan(size * 0.9)
    expect(maker.seen).toEqual([])
  })

  it('that breaks off is nothing that was asked', async () => {
    const { maker, stage } = await staged('anthropic', neverAsked)
    const sent = request(`${stage.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-length': '1000' },
    })
    sent.on('error', () => undefined)
    sent.write('{"model":"fast"')
    const [served] = await once(stage.server, 'request')
    sent.destroy()
    await closed(served)
    await stage.door.close()
    expect(stage.lines).toEqual([])
    expect(maker.seen).toEqual([])
  })

  it('that is packed is refused in a sentence', async () => {
    const { stage } = await staged('anthropic', neverAsked)
    const got = await ask(`${stage.url}/v1/messages`, { body: 'x', headers: { 'content-encoding': 'zstd' } })
    expect(refusalIn(got)).toEqual({ status: 400, message: 'The body is packed as "zstd"; send it as it is.' })
  })

  it('may lack the model', async () => {
    const { stage } = await staged('anthropic', neverAsked)
    expect(refusalIn(await ask(`${stage.url}/v1/messages`, { body: '{"messages":[]}' }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('model'),
    })
  })
})

it.each(['/', '/v1/nothing', '/v1/messages/', '/../etc/passwd', '/v1beta/models', '/api/unknown', '/%ff%00'])(
  'nobody is served at %s',
  async (path) => {
    const { maker, stage } = await staged('anthropic', neverAsked)
    expect(refusalIn(await ask(stage.url + path, { body: '{"model":"fast"}' })).status).toBe(404)
    expect(maker.seen).toEqual([])
  },
)

it('nobody is served at a path that is none', async () => {
  const { stage } = await staged('anthropic', neverAsked)
  for (const path of ['/v1/models/%ff', '/v1beta/models/%c3%28', '/v1/models/..%2f..'])
    expect(refusalIn(await ask(stage.url + path, { method: 'GET' })).status).toBe(404)
})

describe('a stream', () => {
  const frame =
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é日"}}\n\n'
  const start =
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n'
  const body = '{"model":"fast","max_tokens":10,"stream":true,"messages":[]}'

  it('that is cut at any byte of a frame ends in a frame that says so, after whole frames only', async () => {
    const bytes = Buffer.from(frame)
    const { stage } = await staged('anthropic', (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(Buffer.concat([Buffer.from(start), bytes.subarray(0, Number(request.headers['x-cut']))]), () =>
        response.destroy(),
      )
    })
    for (let at = 0; at <= bytes.length; at++) {
      const got = await ask(`${stage.url}/v1/messages`, { body, headers: { 'x-cut': String(at) } })
      const text = got.body.toString()
      expect(text.startsWith(at === bytes.length ? start + frame : start)).toBe(true)
      const frames = text.split('\n\n')
      expect(frames.pop()).toBe('')
      const last = frames.pop()!
      expect(last).toMatch(/^event: error\ndata: \{"type":"error"/)
      expect(frames).toHaveLength(at === bytes.length ? 2 : 1)
    }
    await stage.callsOver(bytes.length + 1)
    expect(stage.ledger.settled).toHaveLength(bytes.length + 1)
    for (const call of stage.calls) {
      expect(call).toMatchObject({ refusal: { kind: 'unavailable' }, usageSoFar: { inputTokens: 9 } })
      expect(call).not.toHaveProperty('usage')
    }
  })

  it('that falls silent is given up', async () => {
    const { stage } = await staged(
      'anthropic',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(start)
      },
      { limits: { idleMs: 60 } },
    )
    const got = await ask(`${stage.url}/v1/messages`, { body })
    expect(got.body.toString()).toContain('fell silent')
    expect(stage.ledger.settled).toMatchObject([{ refusal: { kind: 'timed_out' } }])
  })

  it('is not read any further when its client has left, and is settled once', async () => {
    const left = Promise.withResolvers<void>()
    const { stage } = await staged('anthropic', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(start)
      const more = setInterval(() => response.write(frame), 5)
      response.once('close', () => {
        clearInterval(more)
        left.resolve()
      })
    })
    const leaving = request(`${stage.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': token } })
    leaving.end(body)
    const [response] = await once(leaving, 'response')
    await once(response, 'data')
    response.destroy()
    await left.promise
    const [call] = await stage.callsOver(1)
    expect(call).toMatchObject({ abandoned: true, status: 200, usageSoFar: { inputTokens: 9 } })
    expect(stage.ledger.settled).toHaveLength(1)
  })

  it('ends for a client that closes its half of the connection', async () => {
    const { stage } = await staged('anthropic', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(start)
    })
    const socket = connect(Number(new URL(stage.url).port), '127.0.0.1')
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${token}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    await once(socket, 'data')
    socket.end()
    const [call] = await stage.callsOver(1)
    expect(call).toMatchObject({ abandoned: true })
  })

  it('is cut and settled when the door is closed', async () => {
    const { stage } = await staged('anthropic', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(start)
    })
    const sent = request(`${stage.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': token } })
    sent.end(body)
    const [response] = await once(sent, 'response')
    response.on('error', () => undefined)
    await once(response, 'data')
    await stage.door.close()
    expect(stage.ledger).toMatchObject({ open: 0, settled: [{ abandoned: true }] })
    if (!response.closed) await closed(response)
    await stage.door.close()
  })
})

describe('a provider', () => {
  const { path, body } = requests.anthropic

  it.each([
    ['hangs up', 'broke the connection before it answered', (socket: Socket) => socket.destroy()],
    ['speaks no HTTP', 'does not allow: no HTTP', (socket: Socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
    ['breaks off in its head', 'broke the connection', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le')],
    [
      'does not say how long it is',
      'two ways',
      (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n{}'),
    ],
  ])('that %s is a refusal, and may have been paid', async (_, told, answer) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => answer(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(async () => server.close())
    const stage = await stagedAt('anthropic', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const { status, message } = refusalIn(await ask(stage.url + path, { body }))
    expect(status).toBe(502)
    expect(message).toContain(told)
    expect(stage.ledger.settled).toHaveLength(1)
  })

  it('that falls silent on a connection that is used again is asked once', async () => {
    const { maker, stage } = await staged(
      'anthropic',
      (_, response) => {
        if (maker.seen.length === 1) response.end('{}')
      },
      { limits: { firstByteMs: 50 } },
    )
    expect((await ask(stage.url + path, { body })).status).toBe(200)
    expect((await ask(stage.url + path, { body })).status).toBe(504)
    expect(maker.seen).toHaveLength(2)
    expect(stage.ledger.settled).toHaveLength(2)
  })

  it('that breaks a connection that is used again, after a while, may have served and is asked once', async () => {
    const { maker, stage } = await staged('anthropic', (request, response) => {
      if (maker.seen.length === 1) response.end('{}')
      else setTimeout(() => request.socket.resetAndDestroy(), 700)
    })
    expect((await ask(stage.url + path, { body })).status).toBe(200)
    expect((await ask(stage.url + path, { body })).status).toBe(502)
    expect(maker.seen).toHaveLength(2)
    expect(stage.ledger.settled).toHaveLength(2)
  })

  it('that takes no connection is given up, and has served nothing', async () => {
    // It takes the line, and never says who it is.
    const server = createTcpServer((socket) => void socket.on('error', () => undefined))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(async () => server.close())
    const stage = await stagedAt('anthropic', `https://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      limits: { connectMs: 50 },
    })
    expect(refusalIn(await ask(stage.url + path, { body }))).toMatchObject({
      status: 504,
      message: expect.stringContaining('took no connection within 0.05 seconds'),
    })
    expect(stage.ledger).toMatchObject({ settled: [], released: [{ refusal: { kind: 'timed_out' } }] })
  })

  it('that breaks off a whole answer is a refusal, and the worst is counted', async () => {
    const { stage } = await staged('anthropic', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"id":"m', () => response.destroy())
    })
    expect(refusalIn(await ask(stage.url + path, { body }))).toMatchObject({
      status: 502,
      message: expect.stringContaining('broke off'),
    })
    expect(stage.ledger.settled).toMatchObject([{ refusal: { kind: 'unavailable' } }])
  })

  it('that tells no usage is passed on, and the worst is counted', async () => {
    const { stage } = await staged('anthropic', (_, response) => response.end('not even JSON'))
    expect((await ask(stage.url + path, { body })).body.toString()).toBe('not even JSON')
    expect(stage.ledger.settled).toHaveLength(1)
    expect(stage.ledger.settled[0]).not.toHaveProperty('usage')
  })
})

describe('a program that wants to harm whoever serves it', () => {
  const { path, body } = requests.anthropic

  it('does not get the key from a provider that repeats it in its headers, whether it serves or refuses', async () => {
    for (const status of [200, 401, 500]) {
      const { stage } = await staged('anthropic', (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json', 'x-debug': `key=${providerKey};`, 'x-kept': 'yes' })
        response.end('{}')
      })
      const got = await ask(stage.url + path, { body })
      expect(got).toMatchObject({ status, headers: { 'x-kept': 'yes' } })
      expect(JSON.stringify(got.headers)).not.toContain(providerKey)
    }
  })

  it('is asked for by nobody but us, in no other way than it was asked, whatever it puts beside its own key', async () => {
    const { maker, stage } = await staged('gemini', (_, response) => response.end('{}'))
    const query = '?alt=json&%6bey=theirs&access_token=theirs&$key=theirs&x=1'
    const headers = { 'api-key': 'theirs', cookie: 'theirs', 'x-http-method-override': 'DELETE' }
    expect((await ask(stage.url + requests.gemini.path + query, { body: requests.gemini.body, headers })).status).toBe(200)
    const [seen] = maker.seen
    expect(seen!.url).toBe('/v1beta/models/fast:generateContent?alt=json&x=1')
    expect(JSON.stringify(seen!.headers)).not.toMatch(/theirs|DELETE/)
    expect(seen!.headers['x-goog-api-key']).toBe(providerKey)
  })

  it('cannot fill the memory with many values in one request', async () => {
    const { stage } = await staged('anthropic', neverAsked)
    const many = `{"model":"fast","max_tokens":1,"messages":[${'{},'.repeat(600_000)}{}]}`
    const startedAt = performance.now()
    expect(refusalIn(await ask(stage.url + path, { body: many }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('more than 500000 values'),
    })
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })

  it('cannot fill the memory with many requests at once, and is served again when some are over', async () => {
    const held = Promise.withResolvers<void>()
    const { maker, stage } = await staged('anthropic', (_, response) => void held.promise.then(() => response.end('{}')), {
      limits: { maxHeldBytes: 300_000 },
    })
    const large = JSON.stringify({ ...JSON.parse(body), metadata: { user_id: 'x'.repeat(200_000) } })
    const arrived = maker.arrival()
    const first = ask(stage.url + path, { body: large })
    await arrived
    expect(refusalIn(await ask(stage.url + path, { body: large }))).toMatchObject({
      status: 429,
      message: expect.stringContaining('300000 bytes at once'),
    })
    held.resolve()
    expect((await first).status).toBe(200)
    expect((await ask(stage.url + path, { body: large })).status).toBe(200)
  })

  it('cannot put a long text in place of the name of a model', async () => {
    const { stage } = await staged('anthropic', neverAsked)
    const long = body.replace('fast', 'x'.repeat(100_000))
    const { status, message } = refusalIn(await ask(stage.url + path, { body: long }))
    expect(status).toBe(400)
    expect(message.length).toBeLessThan(200)
    expect(stage.calls).toEqual([])
  })

  it('does not reach another model by a name in capitals, nor by fields of services that know several', async () => {
    const { maker, stage } = await staged('ollama', (_, response) => response.end('{"done":true}\n'))
    await ask(`${stage.url}/api/chat`, { body: '{"model":"fast","Model":"dear","messages":[]}' })
    expect(JSON.parse(maker.seen[0]!.body.toString())).toMatchObject({ model: 'fast', Model: 'fast' })
    const chat = await staged('openai-chat', neverAsked)
    const both = '{"model":"fast","models":["dear"],"messages":[]}'
    expect(refusalIn(await ask(`${chat.stage.url}/v1/chat/completions`, { body: both })).status).toBe(400)
    expect(chat.maker.seen).toEqual([])
  })
})
