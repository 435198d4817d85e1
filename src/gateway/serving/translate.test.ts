import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ask, provider, providerKey, route, routingOf, startProvider, startStage } from '../../../test/gateway/stage.ts'
import { type ModelServer, startModelServer } from '../../../test/model-server/server.ts'
import type { WireName } from '../wires/wire.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
let models: ModelServer
beforeAll(async () => {
  models = await startModelServer()
  return () => models.close()
})

async function staged(wire: WireName, url: string, options: Parameters<typeof startStage>[1] = {}) {
  const stage = await startStage(routingOf(route('fast', provider('maker', wire, url), { target: 'real' })), options)
  closers.push(stage.close)
  return stage
}

const ways: { client: WireName; path: string; streamPath?: string; body: Record<string, unknown>; text(body: string): string }[] =
  [
    {
      client: 'anthropic',
      path: '/v1/messages',
      body: { model: 'fast', max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }] },
      text: (body) => joined(body, /"text":"((?:[^"\\]|\\.)*)"/g),
    },
    {
      client: 'openai-chat',
      path: '/v1/chat/completions',
      body: { model: 'fast', messages: [{ role: 'user', content: 'Say hello' }] },
      text: (body) => joined(body, /"content":"((?:[^"\\]|\\.)*)"/g),
    },
    {
      client: 'gemini',
      path: '/v1beta/models/fast:generateContent',
      streamPath: '/v1beta/models/fast:streamGenerateContent?alt=sse',
      body: { contents: [{ role: 'user', parts: [{ text: 'Say hello' }] }] },
      text: (body) => joined(body, /"text":"((?:[^"\\]|\\.)*)"/g),
    },
    {
      client: 'ollama',
      path: '/api/chat',
      body: { model: 'fast', messages: [{ role: 'user', content: 'Say hello' }] },
      text: (body) => joined(body, /"content":"((?:[^"\\]|\\.)*)"/g),
    },
  ]
const joined = (body: string, pattern: RegExp) => [...body.matchAll(pattern)].map(([, text]) => JSON.parse(`"${text}"`)).join('')
const providers: WireName[] = ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'ollama']
const pairs = ways.flatMap((way) => providers.filter((name) => name !== way.client).map((name) => ({ ...way, name })))

describe.each(pairs)('a client of $client at a provider of $name', ({ client, name, path, streamPath, body, text }) => {
  it.each([true, false])('is answered, and its usage is known (streaming: %s)', async (stream) => {
    const key = `${client}-${name}-${stream}`
    const stage = await staged(name, models.base('text', key) + (name.startsWith('openai') ? '/v1' : ''))
    const got = await ask(stage.url + ((stream && streamPath) || path), { body: JSON.stringify({ ...body, stream }) })
    expect(got).toMatchObject({ status: 200, isCut: false })
    expect(text(got.body.toString())).toContain('Hello from the scripted model.')
    const [call] = await stage.callsOver(1)
    expect(call).toMatchObject({ translated: true, streamed: stream, status: 200, usage: { outputTokens: 15 } })
    expect(call!.usage!.inputTokens + call!.usage!.cacheReadTokens + call!.usage!.cacheWriteTokens).toBe(120)
    expect(stage.ledger).toMatchObject({ open: 0, settled: [{}], released: [] })
    expect(JSON.stringify(models.requestsOf(key))).toContain('real')
  })

  it('is refused in its own words', async () => {
    const stage = await staged(
      name,
      models.base('rate-limit-long', `${client}-${name}-limit`) + (name.startsWith('openai') ? '/v1' : ''),
    )
    const got = await ask(stage.url + path, { body: JSON.stringify(body) })
    expect(got.status).toBe(429)
    expect(JSON.parse(got.body.toString())).toHaveProperty('error')
    expect(stage.calls[0]!.refusal).toMatchObject({
      kind: expect.stringMatching(/rate_limited|usage_limit/),
      retryAt: expect.any(Date),
    })
    expect(stage.ledger).toMatchObject({ settled: [], released: [{ status: 429 }] })
  })
})

describe('a translated stream', () => {
  const chunk = (rest: string) => `data: {"id":"c","model":"real",${rest}}\n\n`
  const first = chunk('"choices":[{"index":0,"delta":{"role":"assistant","content":"Hé"}}]')
  const second = chunk('"choices":[{"index":0,"delta":{"content":"日本"}}]')
  const body = '{"model":"fast","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"x"}]}'

  it('that is cut at any byte ends in a frame that says so', async () => {
    const bytes = Buffer.from(second)
    const maker = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(Buffer.concat([Buffer.from(first), bytes.subarray(0, maker.seen.length - 1)]), () => response.destroy())
    })
    closers.push(maker.close)
    const stage = await staged('openai-chat', maker.url)
    for (let at = 0; at <= bytes.length; at++) {
      const got = await ask(`${stage.url}/v1/messages`, { body })
      const frames = got.body.toString().split('\n\n')
      expect(frames.pop()).toBe('')
      expect(frames.pop()).toMatch(/^event: error\ndata: \{"type":"error"/)
      expect(joined(got.body.toString(), /"text":"((?:[^"\\]|\\.)+)"/g)).toBe(at >= bytes.length - 2 ? 'Hé日本' : 'Hé')
    }
    expect(stage.ledger).toMatchObject({ open: 0, released: [], settled: { length: bytes.length + 1 } })
  })

  it('that fails at once is refused with the status of the format, and has cost nothing', async () => {
    const maker = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"error":{"message":"The server is overloaded","type":"server_error","code":503}}\n\n')
    })
    closers.push(maker.close)
    const stage = await staged('openai-chat', maker.url)
    const got = await ask(`${stage.url}/v1/messages`, { body })
    expect(got.status).toBeGreaterThanOrEqual(500)
    expect(JSON.parse(got.body.toString())).toMatchObject({ type: 'error' })
    expect(stage.ledger).toMatchObject({ settled: [], released: [{ status: 200, refusal: {} }] })
  })

  it('that breaks off before it has said anything is refused with a status, and may have been paid', async () => {
    const maker = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': nothing yet\n\n', () => response.destroy())
    })
    closers.push(maker.close)
    const stage = await staged('openai-chat', maker.url)
    expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(502)
    expect(stage.ledger).toMatchObject({ released: [], settled: [{ status: 200, refusal: { kind: 'unavailable' } }] })
  })

  it('keeps nothing of the key, and sends the client no header of the provider', async () => {
    const maker = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-key': providerKey })
      response.end([first, chunk('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]'), 'data: [DONE]\n\n'].join(''))
    })
    closers.push(maker.close)
    const stage = await staged('openai-chat', maker.url)
    const got = await ask(`${stage.url}/v1/messages`, { body, headers: { 'x-own': 'secret' } })
    expect(got.headers).not.toHaveProperty('x-key')
    expect(maker.seen[0]!.headers).not.toHaveProperty('x-own')
    expect(maker.seen[0]!.headers.authorization).toBe(`Bearer ${providerKey}`)
  })
})
