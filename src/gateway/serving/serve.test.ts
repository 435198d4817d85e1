import { once } from 'node:events'
import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, provider, route, routingOf, startProvider, startStage, token } from '../../../test/gateway/stage.ts'
import { PawlError } from '../../domain/error.ts'
import type { RecordedAsk } from '../recordings/recording.ts'
import type { WireName } from '../wires/wire.ts'
import type { GatewayRun } from './gateway.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function staged(wire: WireName, answer: Parameters<typeof startProvider>[0], run: Partial<GatewayRun> = {}) {
  const maker = await startProvider(answer)
  closers.push(maker.close)
  const stage = await startStage(
    routingOf(route('fast', provider('maker', wire, maker.url)), route('slow', provider('maker', wire, maker.url))),
    { run },
  )
  closers.push(stage.close)
  return { maker, stage }
}

const body = '{"model":"fast","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"x"}]}'
const start = 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n'
const stop =
  'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":5}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
const streaming: Parameters<typeof startProvider>[0] = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' })
  response.write(start)
  setImmediate(() => response.end(stop))
}

describe('tokens are counted', () => {
  const count = '{"model":"fast","messages":[{"role":"user","content":"xxxxxxxx"}]}'

  it('by a provider that can, without money', async () => {
    const { maker, stage } = await staged('anthropic', (_, response) => response.end('{"input_tokens": 42}'))
    const got = await ask(`${stage.url}/v1/messages/count_tokens`, { body: count })
    expect(got.body.toString()).toBe('{"input_tokens": 42}')
    expect(maker.seen[0]!.url).toBe('/v1/messages/count_tokens')
    expect(stage.ledger.reserved).toEqual([])
  })

  it.each<[WireName, number]>([
    ['anthropic', 404],
    ['openai-chat', 200],
  ])('by us where the provider cannot (%s, %d)', async (wire, status) => {
    const { stage } = await staged(wire, (_, response) => response.writeHead(status).end('{}'))
    const got = await ask(`${stage.url}/v1/messages/count_tokens`, { body: count })
    const { input_tokens } = JSON.parse(got.body.toString())
    expect(input_tokens).toBeGreaterThan(10)
    expect(input_tokens).toBeLessThan(40)
  })
})

it('the models of the run are listed in the format of whoever asks', async () => {
  const { maker, stage } = await staged('anthropic', streaming)
  const listed = async (path: string, headers: Record<string, string>) =>
    JSON.parse((await ask(stage.url + path, { method: 'GET', key: null, headers })).body.toString())
  const authorization = `Bearer ${token}`
  expect(await listed('/v1/models', { authorization })).toMatchObject({ object: 'list', data: [{ id: 'fast' }, { id: 'slow' }] })
  expect(await listed('/v1/models?limit=5', { 'x-api-key': token })).toMatchObject({
    data: [{ id: 'fast', type: 'model' }, {}],
    has_more: false,
  })
  expect(await listed('/v1beta/models', { 'x-goog-api-key': token })).toMatchObject({ models: [{ name: 'models/fast' }, {}] })
  expect(await listed('/api/tags', { authorization })).toMatchObject({ models: [{ name: expect.stringContaining('fast') }, {}] })
  expect(maker.seen).toEqual([])
})

describe('a recording', () => {
  function recording() {
    const asks: RecordedAsk[] = []
    const heads: unknown[] = []
    const chunks: string[] = []
    const ends: string[] = []
    const recorder: GatewayRun['recorder'] = {
      begin(ask) {
        asks.push(ask)
        return {
          head: (status, headers) => void heads.push({ status, headers }),
          chunk: (bytes) => void chunks.push(Buffer.from(bytes).toString()),
          end: (how) => void ends.push(how),
        }
      },
    }
    return { asks, heads, chunks, ends, recorder }
  }

  it('has what the client sent and what it got, and not what it proved itself by', async () => {
    const { asks, heads, chunks, ends, recorder } = recording()
    const { stage } = await staged('anthropic', streaming, { recorder })
    const got = await ask(`${stage.url}/v1/messages?beta=true&key=${token}`, { body, headers: { 'x-own': 'yes' } })
    expect(asks).toMatchObject([{ number: 1, method: 'POST', path: '/v1/messages?beta=true', headers: { 'x-own': 'yes' } }])
    expect(asks[0]!.body.toString()).toBe(body)
    expect(JSON.stringify(asks)).not.toContain(token)
    expect(heads).toMatchObject([{ status: 200, headers: { 'request-id': 'req_1', 'content-type': 'text/event-stream' } }])
    expect(chunks.join('')).toBe(got.body.toString())
    expect(ends).toEqual(['whole'])
  })

  it('has refusals too', async () => {
    const { heads, chunks, ends, recorder } = recording()
    const { stage } = await staged(
      'anthropic',
      (_, response) => response.writeHead(400).end('{"type":"error","error":{"message":"No"}}'),
      { recorder },
    )
    await ask(`${stage.url}/v1/messages`, { body })
    expect([heads, chunks, ends]).toMatchObject([[{ status: 400 }], ['{"type":"error","error":{"message":"No"}}'], ['whole']])
  })

  it('says that an answer was cut', async () => {
    const { ends, recorder } = recording()
    const { stage } = await staged(
      'anthropic',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start),
      { recorder },
    )
    const sent = request(`${stage.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': token } })
    sent.end(body)
    const [response] = await once(sent, 'response')
    await once(response, 'data')
    response.destroy()
    await stage.callsOver(1)
    expect(ends).toEqual(['cut'])
  })

  it('answers in the place of a provider, without money', async () => {
    const replay: GatewayRun['replay'] = {
      answer: async ({ number }) =>
        number === 2
          ? 'live'
          : { status: 200, headers: { 'content-type': 'text/event-stream' }, chunks: [Buffer.from(start), Buffer.from(stop)] },
    }
    const { maker, stage } = await staged('anthropic', streaming, { replay })
    expect((await ask(`${stage.url}/v1/messages`, { body })).body.toString()).toBe(start + stop)
    expect(maker.seen).toEqual([])
    expect(stage.ledger.reserved).toEqual([])
    await ask(`${stage.url}/v1/messages`, { body })
    expect(maker.seen).toHaveLength(1)
    expect(stage.calls).toMatchObject([{ number: 2 }])
  })

  it('that was left says where', async () => {
    const replay: GatewayRun['replay'] = {
      answer: async () => {
        throw new PawlError('conflict', 'The run left the recording at call 1.')
      },
    }
    const { stage } = await staged('anthropic', streaming, { replay })
    const got = await ask(`${stage.url}/v1/messages`, { body })
    expect(got.status).toBe(403)
    expect(got.body.toString()).toContain('The run left the recording at call 1.')
  })
})

describe('many at once', () => {
  it('200 streams are each answered and settled once', async () => {
    const { stage } = await staged('anthropic', streaming)
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(`${stage.url}/v1/messages`, { body })))
    expect(new Set(answers.map((got) => got.body.toString()))).toEqual(new Set([start + stop]))
    expect(stage.ledger).toMatchObject({ open: 0, released: [], settled: { length: 200 } })
    expect(new Set(stage.calls.map(({ number }) => number)).size).toBe(200)
  })

  it('connections to the provider are used again', async () => {
    const { maker, stage } = await staged('anthropic', streaming)
    const ports = new Set<number | undefined>()
    maker.server.on('request', ({ socket }) => ports.add(socket.remotePort))
    for (let count = 0; count < 5; count++) await ask(`${stage.url}/v1/messages`, { body })
    expect(ports.size).toBe(1)
  })

  it('a kept connection that the provider has closed meanwhile is replaced unseen', async () => {
    const { maker, stage } = await staged('anthropic', streaming)
    maker.server.keepAliveTimeout = 1
    for (let count = 0; count < 5; count++) {
      expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(200)
      maker.server.closeIdleConnections()
    }
    expect(stage.ledger.settled).toHaveLength(5)
  })
})

it('a client that does not read holds up the provider, not our memory', async () => {
  const piece = `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${'x'.repeat(60_000)}"}}\n\n`
  let written = 0
  const isFull = Promise.withResolvers<void>()
  const { stage } = await staged('anthropic', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const push = () => {
      while (written < 200_000_000) {
        written += piece.length
        if (!response.write(piece)) return void response.once('drain', push)
      }
    }
    push()
    // Whatever is between the two ends fills up, and then nothing moves any more.
    let before = -1
    const watch = setInterval(() => {
      if (written === before) {
        clearInterval(watch)
        isFull.resolve()
      }
      before = written
    }, 100)
  })
  const sent = request(`${stage.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': token } })
  sent.end(body)
  const [response] = await once(sent, 'response')
  await isFull.promise
  expect(written).toBeLessThan(40_000_000)
  response.destroy()
  expect(await stage.callsOver(1)).toMatchObject([{ abandoned: true }])
})
