import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { openDoor } from '../../engine/endpoint/testing.ts'
import { pathBelow } from './forward.ts'
import { speak, startWebServer } from './testing.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** A door whose run has this model endpoint. */
async function withModel(serve: RequestListener, path = '/api/v2') {
  const model = await startWebServer(serve)
  closers.push(model.close)
  const door = await openDoor()
  closers.push(() => door.door.close())
  await door.bind({}, { model: `http://127.0.0.1:${model.port}${path}` })
  return { ...door, model }
}

describe('the model endpoint at the door', () => {
  it('sends a request on as it is, with the key of the program and without a token of ours', async () => {
    const seen: { request: IncomingMessage; body: string }[] = []
    const { url, model } = await withModel(async (request, response) => {
      seen.push({ request, body: await text(request) })
      response.writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' }).end('{"type":"error"}')
    })
    const response = await fetch(`${url}/model/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'x-api-key': 'of-the-program', 'anthropic-version': '2023-06-01' },
      body: 'x'.repeat(2_000_000),
    })
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([429, '7', '{"type":"error"}'])
    const [{ request, body } = { request: undefined, body: '' }] = seen
    expect([request?.method, request?.url, body.length]).toEqual(['POST', '/api/v2/v1/messages?beta=true', 2_000_000])
    expect(request?.headers).toMatchObject({ host: `127.0.0.1:${model.port}`, 'x-api-key': 'of-the-program' })
  })

  it('brings a stream of events as they come', async () => {
    const begun = Promise.withResolvers<ServerResponse>()
    const { url } = await withModel((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      begun.resolve(response)
    })
    const response = await fetch(`${url}/model/v1/messages`, { method: 'POST', body: '{}' })
    const upstream = await begun.promise
    const reader = response.body!.getReader()
    for (const event of ['event: a\n\n', 'event: b\n\n', 'event: c\n\n']) {
      upstream.write(event)
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(event)
    }
    upstream.end()
    expect((await reader.read()).done).toBe(true)
  })

  it('ends the call upstream when the program gives up, and when the run is over', async () => {
    const calls: { arrived: (response: ServerResponse) => void }[] = []
    const next = () => new Promise<ServerResponse>((arrived) => calls.push({ arrived }))
    const { url, door } = await withModel((_, response) => calls.shift()?.arrived(response))
    const first = next()
    const givingUp = new AbortController()
    const aborted = fetch(`${url}/model/x`, { signal: givingUp.signal }).catch(() => 'aborted')
    const firstCall = await first
    givingUp.abort()
    await Promise.all([once(firstCall, 'close'), aborted])
    const second = next()
    const cut = fetch(`${url}/model/x`).catch(() => 'cut')
    const secondCall = await second
    const closed = once(secondCall, 'close')
    await door.bind(undefined)
    await closed
    expect(await cut).toBe('cut')
    expect((await fetch(`${url}/model/x`)).status).toBe(409)
  })

  it('breaks an answer off where the endpoint broke it off', async () => {
    const { url } = await withModel((_, response) => {
      response.write('half', () => response.destroy())
    })
    const response = await fetch(`${url}/model/x`)
    await expect(response.text()).rejects.toThrow()
  })

  it('follows no redirect', async () => {
    const asked: (string | undefined)[] = []
    const { url } = await withModel((request, response) => {
      asked.push(request.url)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const response = await fetch(`${url}/model/x`, { redirect: 'manual' })
    expect([response.status, asked]).toEqual([307, ['/api/v2/x']])
  })

  it('says that the endpoint cannot be reached, and no more', async () => {
    const { url, model } = await withModel((_, response) => response.end())
    await model.close()
    const response = await fetch(`${url}/model/x`)
    expect([response.status, await response.text()]).toEqual([502, 'The model endpoint of this agent cannot be reached.\n'])
  })

  it('is not there for an agent without one', async () => {
    const door = await openDoor()
    closers.push(() => door.door.close())
    await door.bind({})
    expect((await fetch(`${door.url}/model/x`)).status).toBe(404)
    expect((await fetch(`${door.url}/modelled`)).status).toBe(401)
  })

  it('stays below its own path', async () => {
    let reached = 0
    const { port } = await withModel((_, response) => {
      reached++
      response.end()
    })
    for (const path of [
      '/model/..',
      '/model/../x',
      '/model/a/%2e%2E/b',
      '/model/a/%252e%252e/b',
      '/model/..%2fx',
      '/model/a\\..\\x',
      '/model/.',
    ])
      expect([path, (await speak(port, Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`))).text]).toEqual([
        path,
        expect.stringMatching(/^HTTP\/1\.1 400 /),
      ])
    expect(reached).toBe(0)
    const base = new URL('https://models.example/api/')
    expect(pathBelow(base, '')).toBe('/api')
    expect(pathBelow(base, '/v1/models/org%2Fname..x?a=..&b=?')).toBe('/api/v1/models/org%2Fname..x?a=..&b=?')
    expect(pathBelow(new URL('https://models.example'), '/v1')).toBe('/v1')
  })
})
