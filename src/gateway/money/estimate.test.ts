import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Route } from '../base/route.ts'
import type { JsonObject } from '../wires/model-request.ts'
import { inputTokens, worstCase } from './estimate.ts'
import { guessTokens } from './token-guess.ts'

const route = { model: 'm', target: 'm', provider: {} } as Route
const bodyOf = (content: unknown, more: JsonObject = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more })
const worst = (body: JsonObject, head = {}) =>
  worstCase(Buffer.from(JSON.stringify(body)), body, { model: 'm', streams: true, ...head }, route)

describe('what a request may come to', () => {
  // Counted with the tokenizer o200k_base, of the text alone.
  it.each([
    [
      'prose',
      'The run is stopped by whoever holds the purse; the gateway says it in the format of the client. '.repeat(100),
      2100,
    ],
    [
      'code',
      'const end = (into: CallFacts[]) => (facts: CallFacts) => { if (isOver) throw new Error("twice") }\n'.repeat(100),
      2701,
    ],
    ['JSON', '{"id":17,"name":"left-pad","version":"1.3.0","tags":["a","b"],"ok":true}\n'.repeat(100), 2900],
    ['Chinese', '我们需要在运行之前预留最坏情况下的费用，然后根据实际使用情况进行结算。'.repeat(100), 2100],
  ])('is more than was counted for %s, and not far more', (_, text, counted) => {
    const { inputTokens } = worst(bodyOf(text))
    expect(inputTokens).toBeGreaterThan(counted * 1.2)
    expect(inputTokens).toBeLessThan(counted * 5)
  })

  it('is never more than a token for each byte, beside what providers add', () => {
    const text = '~!'.repeat(5000)
    expect(worst(bodyOf(text)).inputTokens).toBeLessThanOrEqual(JSON.stringify(bodyOf(text)).length + 1000)
  })

  it('counts an image as an image, however it is given, and not as text', () => {
    const png = `iVBORw0KGgo${randomBytes(300_000).toString('base64')}`
    const alone = worst(bodyOf('x')).inputTokens
    for (const part of [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      { type: 'input_image', image_url: `data:image/png;base64,${png}` },
      { inlineData: { mimeType: 'image/png', data: png } },
      { type: 'image', source: { type: 'url', url: 'http://x.example/a.png' } },
    ]) {
      const { inputTokens } = worst(bodyOf([part]))
      expect(inputTokens).toBeGreaterThan(alone + 4_000)
      expect(inputTokens).toBeLessThan(alone + 6_000)
    }
  })

  it('counts every answer that is asked for', () => {
    expect(worst(bodyOf('x'), { maxOutputTokens: 100 }).outputTokens).toBe(100)
    expect(worst(bodyOf('x', { n: 3 }), { maxOutputTokens: 100 }).outputTokens).toBe(300)
    expect(worst({ generationConfig: { candidateCount: 2 } }, { maxOutputTokens: 100 }).outputTokens).toBe(200)
  })

  it('counts answers under each name that their number may have, and numbers that are written as text', () => {
    const head = { maxOutputTokens: 100 }
    expect(worst({ generation_config: { candidate_count: 8 } }, head).outputTokens).toBe(800)
    expect(worst({ generationConfig: { candidate_count: '4' } }, head).outputTokens).toBe(400)
    expect(worst({ n: -5 }, head).outputTokens).toBe(100)
  })

  it('is refused where it is more than any model writes', () => {
    for (const [body, head] of [
      [{ n: 1e300 }, { maxOutputTokens: 1e10 }],
      [{ n: 1e9 }, {}],
      [{}, { maxOutputTokens: Number.POSITIVE_INFINITY }],
    ] as const)
      expect(() => worst(body, head)).toThrow(/no model writes as many/)
  })

  it('counts text as text where it only begins like a picture, or stands where no format has pictures', () => {
    const text = `/9j/${'ab1 '.repeat(50_000)}`
    const image = { type: 'image', source: { type: 'base64', data: 'iVBORw0KGgo' } }
    const plain = worst(bodyOf([{ type: 'text', text }])).inputTokens
    for (const part of [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } },
      { type: 'tool_use', id: 't', name: 'n', input: { type: 'image', source: { data: text } } },
      { inlineData: { mimeType: 'text/plain', data: text } },
      { functionCall: { name: 'n', args: { inlineData: { mimeType: 'image/png', data: text } } } },
    ])
      expect(worst(bodyOf([image, part])).inputTokens).toBeGreaterThan(plain * 0.9)
  })

  it('counts what the provider fetches, or has already, as long', () => {
    for (const part of [
      { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } },
      { type: 'input_file', file_id: 'file_1' },
      { type: 'file', file: { file_id: 'file_1' } },
      { fileData: { fileUri: 'https://x.example/a.mp4' } },
    ])
      expect(worst(bodyOf([part])).inputTokens).toBeGreaterThan(200_000)
    expect(worst(bodyOf('x', { cachedContent: 'cachedContents/1' })).inputTokens).toBeGreaterThan(200_000)
    expect(worst(bodyOf('the file_id of a document, by url')).inputTokens).toBeLessThan(2_000)
  })

  it('is what the route may write, or a large answer, where the request says nothing', () => {
    const body = Buffer.from('{}')
    const head = { model: 'm', streams: true }
    expect(worstCase(body, {}, head, { ...route, maxOutputTokens: 8_000 }).outputTokens).toBe(8_000)
    expect(worstCase(body, {}, head, route).outputTokens).toBe(32_000)
    expect(worstCase(body, {}, { ...head, maxOutputTokens: -1 }, route).outputTokens).toBe(32_000)
  })

  it('is kept for an hour only if it says so, however that is written', () => {
    const cached = (ttl: string) => Buffer.from(`{"system":[{"type":"text","cache_control":{"type":"ephemeral"${ttl}}}]}`)
    const isKept = (ttl: string) => worstCase(cached(ttl), {}, { model: 'm', streams: true }, route).isKeptForHour
    for (const ttl of ['', ',"ttl":"5m"']) expect(isKept(ttl)).toBe(false)
    for (const ttl of [',"ttl":"1h"', ',"ttl": "\\u0031h"', ',"ttl":"1\\u0068"']) expect(isKept(ttl)).toBe(true)
  })

  it('counts a conversation that the provider keeps as a long one', () => {
    expect(worst(bodyOf('x', { previous_response_id: 'resp_1' })).inputTokens).toBeGreaterThan(200_000)
  })
})

it('a long text is judged as its parts are', () => {
  const text = readFileSync(new URL('estimate.ts', import.meta.url))
  const long = Buffer.concat(Array(200).fill(text))
  expect(guessTokens(long) / (guessTokens(text) * 200)).toBeCloseTo(1, 1)
  expect(inputTokens(long, {})).toBeGreaterThan(long.length / 6)
})

it('a long text cannot hide what it holds between the places that are looked at', () => {
  const text = Buffer.alloc(2_000_000, '7~')
  const step = (text.length - 1024) / 63
  for (let place = 0; place < 64; place++) text.fill(' ', Math.floor(place * step), Math.floor(place * step) + 1024)
  expect(guessTokens(text)).toBeGreaterThan(text.length / 3)
})
