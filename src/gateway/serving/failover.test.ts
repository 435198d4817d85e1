import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, provider, route, routingOf, startProvider, startStage } from '../../../test/gateway/stage.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function startMaker(answer: RequestListener) {
  const maker = await startProvider(answer)
  closers.push(maker.close)
  return maker
}
type Maker = Awaited<ReturnType<typeof startMaker>>

/** Two providers of one model, the first of the client's own format. */
async function staged(first: RequestListener, second: RequestListener, options: Parameters<typeof startStage>[1] = {}) {
  const makers: [Maker, Maker] = [await startMaker(first), await startMaker(second)]
  const routing = routingOf(
    route('fast', provider('one', 'anthropic', makers[0].url), { target: 'm1' }),
    route('fast', provider('two', 'openai-chat', makers[1].url), { target: 'm2' }),
  )
  const stage = await startStage(routing, options)
  closers.push(stage.close)
  return { makers, stage }
}

const body = '{"model":"fast","max_tokens":10,"messages":[{"role":"user","content":"x"}]}'
const message = '{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":3}}'
const chat =
  '{"id":"c","model":"m2","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}'
const json = { 'content-type': 'application/json' }
const served: RequestListener = (_, response) => void response.writeHead(200, json).end(message)
const servedByChat: RequestListener = (_, response) => void response.writeHead(200, json).end(chat)
const limited =
  (seconds: number | string): RequestListener =>
  (_, response) =>
    void response
      .writeHead(429, { ...json, 'retry-after': String(seconds), 'request-id': 'req_1' })
      .end(' {"type":"error","error":{"type":"rate_limit_error","message":"Too many"}}')
const failing =
  (status: number): RequestListener =>
  (_, response) =>
    void response.writeHead(status, json).end('{"type":"error","error":{"message":"Broken"}}')
const hangingUp: RequestListener = (_, response) => void response.destroy()

describe('the next provider', () => {
  it.each<[string, RequestListener]>([
    ['is at its limit', limited(3600)],
    ['fails', failing(500)],
    ['is overloaded', failing(529)],
  ])('is asked when the first %s, with a reservation of its own', async (_, first) => {
    const { makers, stage } = await staged(first, servedByChat)
    const got = await ask(`${stage.url}/v1/messages`, { body })
    expect(got.status).toBe(200)
    expect(JSON.parse(got.body.toString())).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hi' }] })
    expect(makers.map(({ seen }) => seen.length)).toEqual([1, 1])
    expect(JSON.parse(makers[1].seen[0]!.body.toString())).toMatchObject({ model: 'm2' })
    expect(stage.ledger.reserved.map(({ route }) => route.target)).toEqual(['m1', 'm2'])
    expect(stage.ledger.released).toMatchObject([{ number: 1, route: { target: 'm1' } }])
    expect(stage.ledger.settled).toMatchObject([{ number: 1, route: { target: 'm2' }, usage: { inputTokens: 5 } }])
  })

  it('is asked when nobody is where the first should be', async () => {
    const { makers, stage } = await staged(served, servedByChat)
    await makers[0].close()
    expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(200)
    expect(stage.calls).toMatchObject([{ refusal: { kind: 'unavailable' } }, { status: 200 }])
  })

  it('is not asked when the request itself was refused, or may have been served already', async () => {
    for (const first of [failing(400), failing(401), hangingUp]) {
      const { makers, stage } = await staged(first, servedByChat)
      expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBeGreaterThanOrEqual(400)
      expect(makers[1].seen).toEqual([])
    }
  })

  it('is asked first as long as the limit of the first holds', async () => {
    const { makers, stage } = await staged(limited(3600), servedByChat)
    await ask(`${stage.url}/v1/messages`, { body })
    await ask(`${stage.url}/v1/messages`, { body })
    expect(makers.map(({ seen }) => seen.length)).toEqual([1, 2])
  })

  it('may fail too: then the client hears of the first', async () => {
    const { stage } = await staged(limited(3600), failing(500))
    const got = await ask(`${stage.url}/v1/messages`, { body })
    expect(got).toMatchObject({ status: 429, headers: { 'request-id': 'req_1', 'retry-after': '3600' } })
    expect(got.body.toString()).toBe(' {"type":"error","error":{"type":"rate_limit_error","message":"Too many"}}')
    expect(stage.calls[0]!.refusal!.retryAt!.getTime()).toBeGreaterThan(Date.now() + 3_500_000)
  })
})

describe('a client that cannot be kept from trying again', () => {
  it.each<[string, RequestListener, string]>([
    ['a limit', limited(3600), 'rate_limited'],
    ['a failing provider', failing(500), 'unavailable'],
    ['an overloaded one', failing(529), 'overloaded'],
  ])('hears of %s as of something final, while the run hears what it is', async (_, first, kind) => {
    const { stage } = await staged(first, failing(500), { run: { refusesForGood: true } })
    const got = await ask(`${stage.url}/v1/messages`, { body })
    expect(got.status).toBe(403)
    expect(got.headers['retry-after']).toBeUndefined()
    expect(got.body.toString()).not.toMatch(/\b(429|5\d\d)\b|try again|limit|overloaded|unavailable/i)
    expect(stage.calls[0]).toMatchObject({ refusal: { kind } })
  })

  it('hears of its own mistakes as they are', async () => {
    const { stage } = await staged(failing(400), served, { run: { refusesForGood: true } })
    expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(400)
  })
})

describe('a limit that ends soon', () => {
  it('is waited for, and the same provider asked once more', async () => {
    let count = 0
    const first: RequestListener = (request, response) =>
      count++ === 0 ? limited(1)(request, response) : served(request, response)
    const { makers, stage } = await staged(first, servedByChat)
    const started = performance.now()
    expect((await ask(`${stage.url}/v1/messages`, { body })).body.toString()).toBe(message)
    expect(performance.now() - started).toBeGreaterThan(900)
    expect(makers.map(({ seen }) => seen.length)).toEqual([2, 0])
    expect(stage.ledger).toMatchObject({ released: [{ status: 429 }], settled: [{ status: 200 }] })
  })

  it('is waited for once only', async () => {
    const { makers, stage } = await staged(limited(0), failing(400))
    expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(429)
    expect(makers.map(({ seen }) => seen.length)).toEqual([2, 1])
  })

  it('is not waited for if it is further away than allowed', async () => {
    const { makers, stage } = await staged(limited(2), servedByChat, { limits: { maxHoldMs: 1000 } })
    expect((await ask(`${stage.url}/v1/messages`, { body })).status).toBe(200)
    expect(makers.map(({ seen }) => seen.length)).toEqual([1, 1])
  })
})
