import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { ProviderSettings } from '../domain/agent/models.ts'
import { createPrices, price } from '../domain/money/prices.ts'
import { reachProvider } from '../engine/models/reach.ts'
import { modelVerbs } from './models.ts'

const asked: { path: string; headers: IncomingHttpHeaders }[] = []
const server = createServer((request, response) => {
  asked.push({ path: request.url ?? '', headers: request.headers })
  const isGood = !JSON.stringify(request.headers).includes('wrong')
  response
    .writeHead(request.url?.startsWith('/busy') ? 503 : request.url?.startsWith('/listless') ? 404 : isGood ? 200 : 401)
    .end('{}')
})
let base: string
beforeAll(async () => {
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

test.each<[ProviderSettings['kind'], string, string, string]>([
  ['anthropic', '/v1/models', 'x-api-key', 'k-1'],
  ['openai', '/models', 'authorization', 'Bearer k-1'],
  ['openai-compatible', '/models', 'authorization', 'Bearer k-1'],
  ['gemini', '/v1beta/models', 'x-goog-api-key', 'k-1'],
  ['ollama', '/api/tags', 'authorization', 'Bearer k-1'],
])('a provider of kind %s is asked for its list, with the key where it looks for it', async (kind, path, header, value) => {
  expect(await reachProvider({ kind, baseUrl: base }, 'k-1')).toEqual({ ok: true, detail: `${new URL(base).host} answers` })
  expect(asked.at(-1)).toMatchObject({ path, headers: { [header]: value } })
})

test('what keeps a provider from serving is said', async () => {
  const { host } = new URL(base)
  expect(await reachProvider({ kind: 'openai', baseUrl: base }, 'wrong')).toEqual({
    ok: false,
    detail: `${host} answers, and refuses the key (401)`,
  })
  expect(await reachProvider({ kind: 'openai', baseUrl: `${base}/busy` }, 'k')).toEqual({
    ok: false,
    detail: `${host} answers with 503`,
  })
  expect(await reachProvider({ kind: 'openai-compatible', baseUrl: `${base}/listless` }, 'k')).toEqual({
    ok: true,
    detail: `${host} answers, but knows no /models (404); if it serves no model either, correct its baseUrl`,
  })
  const gone = createServer()
  await new Promise<void>((up) => gone.listen(0, '127.0.0.1', up))
  const { port } = gone.address() as AddressInfo
  await new Promise((closed) => gone.close(closed))
  expect(await reachProvider({ kind: 'ollama', baseUrl: `http://127.0.0.1:${port}` }, undefined)).toEqual({
    ok: false,
    detail: `127.0.0.1:${port} cannot be reached: ECONNREFUSED`,
  })
})

test('models are listed with who serves them, whether their price is known and whether the key is there', async () => {
  const verbs = modelVerbs({
    modelTable: {
      providers: {
        maker: { kind: 'openai', baseUrl: base, key: { env: 'MAKER_KEY' } },
        other: { kind: 'gemini', wire: 'gemini', baseUrl: base, key: { env: 'NOT_SET' } },
        here: { kind: 'ollama', wire: 'ollama', baseUrl: base },
      },
      models: {
        big: { provider: 'maker', target: 'gpt-5', aliases: ['large'], maxOutputTokens: 9 },
        wide: { provider: 'other' },
        own: { provider: 'here' },
      },
    },
    prices: createPrices({ 'gpt-5*': price(1, 2) }, {}),
    environment: (names) => (names.includes('MAKER_KEY') ? { MAKER_KEY: 'k-2' } : {}),
    secretsFor: async () => [],
    clock: systemClock,
  })
  const big = {
    name: 'big',
    aliases: ['large'],
    provider: 'maker',
    kind: 'openai',
    formats: ['openai-responses', 'openai-chat'],
    target: 'gpt-5',
    maxOutputTokens: 9,
    priced: true,
    key: 'set',
    reach: null,
  }
  const before = asked.length
  expect(await verbs.listModels({ check: false })).toEqual([
    big,
    expect.objectContaining({ name: 'wide', target: 'wide', formats: ['gemini'], priced: false, key: 'missing', reach: null }),
    expect.objectContaining({ name: 'own', priced: true, key: 'none' }),
  ])
  expect(asked).toHaveLength(before)
  expect(await verbs.listModels({ check: true })).toMatchObject([
    { reach: { ok: true } },
    { reach: { ok: false, detail: 'The key of provider "other" is to be in NOT_SET, which is not set for Pawl.' } },
    { reach: { ok: true } },
  ])
})
