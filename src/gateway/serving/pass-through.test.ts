import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, provider, providerKey, route, routingOf, startProvider, startStage, token } from '../../../test/gateway/stage.ts'
import type { Route } from '../base/route.ts'
import type { WireName } from '../wires/wire.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** A provider of this format that gives this answer, and a gateway to it for the model `fast`. */
async function staged(
  wire: WireName,
  answer: Parameters<typeof startProvider>[0],
  more: Partial<Route> & { base?: string } = {},
) {
  const { base = '', ...rest } = more
  const maker = await startProvider(answer)
  closers.push(maker.close)
  const stage = await startStage(
    routingOf(route('fast', provider('maker', wire, maker.url + base), { target: 'real-fast', ...rest })),
  )
  closers.push(stage.close)
  return { maker, stage }
}

const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi' }] },
  ...{ stop_reason: 'end_turn', usage: { input_tokens: 7, output_tokens: 3 } },
}

const anthropicStream = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"日本"}, "unknown":1.0}\n\n',
  ': a comment\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join('')

describe('a request in the format of its provider', () => {
  it('is bounded to what money is left for, where it asks for more', async () => {
    const maker = await startProvider((_, response) => response.end(JSON.stringify(message)))
    closers.push(maker.close)
    const routing = routingOf(route('fast', provider('maker', 'anthropic', maker.url), { target: 'fast' }))
    const stage = await startStage(routing, { grants: ({ leastOutputTokens = 0 }) => leastOutputTokens + 8 })
    closers.push(stage.close)
    const body = '{ "model":"fast", "max_tokens": 128000, "messages":[] }'
    expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(200)
    expect(maker.seen[0]!.body.toString()).toBe(body.replace('128000', '4104'))
    expect(stage.ledger.reserved).toMatchObject([{ outputTokens: 128_000, leastOutputTokens: 4_096 }])
  })

  it('arrives byte for byte but for the name of the model', async () => {
    const { maker, stage } = await staged('anthropic', (_, response) => response.end(JSON.stringify(message)))
    const odd = (model: string) =>
      `  {\r\n"a":1.0, "big":12345678901234567890 ,"model"  :\t${model},"unknown":{"model":"fast","é":"\\u00e9日本 🎉"},"max_tokens":1e2,"messages":[] }\n`
    const body = odd('"fast:mode=thinking"')
    const got = await ask(`${stage.url}/v1/messages?beta=true`, { body, headers: { 'X-Own': 'yes' } })
    expect(got.status).toBe(200)
    expect(maker.seen[0]!.body.toString()).toBe(odd('"real-fast"'))
    expect(maker.seen[0]).toMatchObject({ method: 'POST', url: '/v1/messages?beta=true' })
    expect(maker.seen[0]!.headers).toMatchObject({ 'x-own': 'yes', 'x-api-key': providerKey, 'accept-encoding': 'identity' })
    expect(maker.seen[0]!.raw).toContain('X-Own')
    expect(JSON.stringify(maker.seen)).not.toContain(token)
    expect(stage.ledger).toMatchObject({ open: 0, released: [], reserved: [{ outputTokens: 100 }] })
    expect(stage.calls).toEqual(stage.ledger.settled)
    expect(stage.calls[0]).toMatchObject({
      ...{ number: 1, asked: 'fast:mode=thinking', status: 200, translated: false, streamed: false },
      usage: { inputTokens: 7, outputTokens: 3 },
    })
  })

  it('has its model replaced wherever the name stands, so that no second one gets through', async () => {
    const { maker, stage } = await staged('anthropic', (_, response) => response.end(JSON.stringify(message)))
    await ask(`${stage.url}/v1/messages`, { body: '{"model":"dear","mod\\u0065l":"dearer","messages":[],"model":"fast"}' })
    expect(maker.seen[0]!.body.toString()).toBe(
      '{"model":"real-fast","mod\\u0065l":"real-fast","messages":[],"model":"real-fast"}',
    )
  })

  it('finds its way to a base address with the version or without it', async () => {
    for (const base of ['', '/v1', '/api/v1']) {
      const { maker, stage } = await staged('openai-chat', (_, response) => response.end('{}'), { base })
      await ask(`${stage.url}/v1/chat/completions`, { body: '{"model":"fast","messages":[]}' })
      expect(maker.seen[0]!.url).toBe(`${base === '' ? '/v1' : base}/chat/completions`)
    }
  })

  it('names the model of the provider in the path where the format has it there', async () => {
    const { maker, stage } = await staged('gemini', (_, response) => response.end('{}'))
    const path = `/v1beta/models/fast:generateContent?key=${token}&alt=json`
    await ask(stage.url + path, { body: '{"contents":[]}', key: null })
    expect(maker.seen[0]).toMatchObject({ url: '/v1beta/models/real-fast:generateContent?alt=json' })
    expect(maker.seen[0]!.headers['x-goog-api-key']).toBe(providerKey)
  })
})

describe('an answer in the format of the client', () => {
  it('comes back byte for byte, with its status and headers', async () => {
    const text = ` {"odd" : 1.0, "usage":{"input_tokens":7,"output_tokens":3}, "stop_reason":"end_turn", "n":12345678901234567890}\n`
    const { stage } = await staged('anthropic', (_, response) => {
      response.writeHead(201, ['Request-Id', 'req_1', 'X-Twice', 'a', 'X-Twice', 'b', 'Connection', 'x-hop', 'X-Hop', '1'])
      response.end(text)
    })
    const got = await ask(`${stage.url}/v1/messages`, { body: '{"model":"fast"}' })
    expect(got).toMatchObject({ status: 201, isCut: false })
    expect(got.body.toString()).toBe(text)
    expect(got.raw.join()).toContain('Request-Id,req_1,X-Twice,a,X-Twice,b')
    expect(got.headers['x-hop']).toBeUndefined()
    expect(stage.calls[0]).toMatchObject({ usage: { inputTokens: 7, outputTokens: 3 } })
  })

  it('streams byte for byte, wherever the network cuts it, and its usage is read', async () => {
    const bytes = Buffer.from(anthropicStream)
    const { stage } = await staged('anthropic', async (request, response) => {
      const size = Number(request.headers['x-size'])
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      for (let at = 0; at < bytes.length; at += size)
        await new Promise<void>((sent) => response.write(bytes.subarray(at, at + size), () => setImmediate(sent)))
      response.end()
    })
    for (const size of [1, 7, 64, 100_000]) {
      const got = await ask(`${stage.url}/v1/messages`, {
        body: '{"model":"fast","stream":true}',
        headers: { 'x-size': String(size) },
      })
      expect(got.body.toString()).toBe(anthropicStream)
      expect(got.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    }
    expect(stage.calls.map(({ usage }) => usage)).toEqual(
      Array(4).fill({ inputTokens: 9, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }),
    )
  })

  it('is unpacked if the provider packs it though it was asked not to', async () => {
    const { stage } = await staged('anthropic', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(gzipSync(anthropicStream))
    })
    const got = await ask(`${stage.url}/v1/messages`, { body: '{"model":"fast","stream":true}' })
    expect(got.body.toString()).toBe(anthropicStream)
    expect(got.headers['content-encoding']).toBeUndefined()
    expect(stage.calls[0]?.usage?.outputTokens).toBe(5)
  })

  it('shows its first piece at once, before there is a second', async () => {
    const more = Promise.withResolvers<void>()
    const { stage } = await staged('anthropic', async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(anthropicStream.slice(0, anthropicStream.indexOf('\n\n') + 2))
      await more.promise
      response.end()
    })
    const response = await fetch(`${stage.url}/v1/messages`, {
      ...{ method: 'POST', headers: { 'x-api-key': token }, body: '{"model":"fast","stream":true}' },
    })
    const first = await response.body!.getReader().read()
    expect(Buffer.from(first.value!).toString()).toContain('message_start')
    more.resolve()
  })
})

describe('a stream of Chat Completions', () => {
  const chunk = (rest: string) => `data: {"id":"c","object":"chat.completion.chunk",${rest}}\n\n`
  const usage = chunk('"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15}')
  const shown = [
    chunk('"choices":[{"index":0,"delta":{"content":"Hi"}}]'),
    chunk('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]'),
  ]
  const done = 'data: [DONE]\n\n'
  const frames = [...shown, usage, done].join('')
  const answer: Parameters<typeof startProvider>[0] = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(frames)
  }

  it.each([
    ['{"model":"fast","stream":true}', '{"stream_options":{"include_usage":true},"model":"real-fast","stream":true}'],
    [
      '{"stream_options":{},"model":"fast","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"real-fast","stream":true}',
    ],
    [
      '{ "stream_options" : { "x":1, "include_usage": false }, "model":"fast","stream":true}',
      '{ "stream_options" : { "x":1, "include_usage": true }, "model":"real-fast","stream":true}',
    ],
    [
      '{"model":"fast","stream_options":{"x":1},"stream":true}',
      '{"model":"real-fast","stream_options":{"include_usage":true,"x":1},"stream":true}',
    ],
    [
      '{"model":"fast","stream_options":null,"stream":true}',
      '{"model":"real-fast","stream_options":{"include_usage":true},"stream":true}',
    ],
  ])('tells its usage to us and not to a client that did not ask: %s', async (sent, arrived) => {
    const { maker, stage } = await staged('openai-chat', answer)
    const got = await ask(`${stage.url}/v1/chat/completions`, { body: sent })
    expect(maker.seen[0]!.body.toString()).toBe(arrived)
    expect(got.body.toString()).toBe([...shown, done].join(''))
    expect(stage.calls[0]).toMatchObject({ usage: { inputTokens: 11, outputTokens: 4 } })
  })

  it('passes untouched where the client asked', async () => {
    const { maker, stage } = await staged('openai-chat', answer)
    const body = '{"model":"real-fast","stream":true,"stream_options":{"include_usage":true}}'
    const got = await ask(`${stage.url}/v1/chat/completions`, { body: body.replace('real-', '') })
    expect(maker.seen[0]!.body.toString()).toBe(body)
    expect(got.body.toString()).toBe(frames)
  })
})

describe('the key of a provider', () => {
  const echoed = [
    ['as it is', providerKey],
    ['in base64', Buffer.from(`Bearer ${providerKey}`).toString('base64')],
    ['in hexadecimal', Buffer.from(providerKey).toString('hex')],
  ] as const
  const spoken = (text: string) => anthropicStream.replace('日本', text)
  const leaks = (text: string) => echoed.some(([, form]) => text.includes(form.slice(0, -4)))

  it.each(echoed)('is redacted in a whole answer, %s', async (_, form) => {
    const body = JSON.stringify({ ...message, content: [{ type: 'text', text: `It is ${form}.` }] })
    const { stage } = await staged('anthropic', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-debug': form })
      response.end(gzipSync(body))
    })
    const got = await ask(`${stage.url}/v1/messages`, { body: '{"model":"fast","max_tokens":9,"messages":[]}' })
    expect(got.status).toBe(200)
    expect(JSON.parse(got.body.toString())).toMatchObject({
      content: [{ text: expect.stringContaining('[redacted:provider key]') }],
    })
    expect(leaks(got.body.toString() + JSON.stringify(got.headers))).toBe(false)
  })

  it.each(echoed)('is redacted in a stream that is cut into single bytes, %s', async (_, form) => {
    const { stage } = await staged('anthropic', async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const byte of Buffer.from(spoken(form))) {
        response.write(Buffer.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    })
    const got = await ask(`${stage.url}/v1/messages`, { body: '{"model":"fast","stream":true,"max_tokens":9,"messages":[]}' })
    expect(got.body.toString()).toContain('[redacted:provider key]')
    expect(got.body.toString()).toContain('message_stop')
    expect(leaks(got.body.toString())).toBe(false)
  })

  it('is redacted in a refusal', async () => {
    const { stage } = await staged('anthropic', (_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: `bad key ${providerKey}` } }))
    })
    const got = await ask(`${stage.url}/v1/messages`, { body: '{"model":"fast","max_tokens":9,"messages":[]}' })
    expect(got.body.toString()).toContain('[redacted:provider key]')
    expect(leaks(got.body.toString())).toBe(false)
  })

  it('holds no event of a stream back', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>()
    const { stage } = await staged('anthropic', async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const [first, ...others] = anthropicStream.split('\n\n')
      response.write(`${first}\n\n`)
      await go
      response.end(others.join('\n\n'))
    })
    const asked = await fetch(`${stage.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: '{"model":"fast","stream":true,"max_tokens":9,"messages":[]}',
    })
    const reader = asked.body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toMatch(/message_start.*\n\n$/s)
    resolve()
    while (!(await reader.read()).done);
  })
})
