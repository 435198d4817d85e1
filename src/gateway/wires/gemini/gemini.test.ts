import { describe, expect, it } from 'vitest'
import { createFrameSplitter } from '../frames.ts'
import type { ModelEvent } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { markedSeal } from '../seal.ts'
import { gemini } from './gemini.ts'

const asked = { kind: 'generate', model: 'm', streams: true } as const
const now = new Date('2026-03-01T20:00:00Z')
const read = (body: JsonObject) => gemini.readRequest({ contents: [], ...body }, asked)

describe('what a request wants', () => {
  it.each([
    ['/v1beta/models/gemini-2.5-flash:generateContent', '', { kind: 'generate', model: 'gemini-2.5-flash', streams: false }],
    ['/v1beta/models/m:streamGenerateContent', 'alt=sse', { kind: 'generate', model: 'm', streams: true }],
    ['/v1beta/models/m:streamGenerateContent', '', { kind: 'generate', model: 'm', streams: false, isArray: true }],
    ['/v1/models/gpt-oss:20b:countTokens', '', { kind: 'count_tokens', model: 'gpt-oss:20b' }],
    ['/v1/messages', '', undefined],
  ])('POST %s?%s', (path, query, wanted) => {
    expect(gemini.asked('POST', path, new URLSearchParams(query))).toEqual(wanted)
  })

  it('lists models, or one of them', () => {
    expect(gemini.asked('GET', '/v1beta/models')).toEqual({ kind: 'models' })
    expect(gemini.listed(['a', 'b'], '/v1beta/models', {})).toMatchObject({
      models: [{ name: 'models/a' }, { name: 'models/b' }],
    })
    expect(gemini.listed(['a'], '/v1beta/models/a', {})).toMatchObject({ name: 'models/a' })
    expect(gemini.listed(['a'], '/v1beta/models/b', {})).toBeUndefined()
  })
})

describe('a request', () => {
  it('may leave ids away: results belong to the calls of their name, in their order', () => {
    const call = (name: string) => ({ functionCall: { name, args: {} } })
    const result = (name: string, output: string) => ({ functionResponse: { name, response: { output } } })
    const { messages } = read({
      contents: [
        { role: 'model', parts: [call('look'), call('go'), call('look')] },
        { role: 'user', parts: [result('look', 'first'), result('look', 'second'), result('go', 'gone')] },
      ],
    })
    expect(messages[0]?.parts.map((part) => part.kind === 'tool_call' && part.id)).toEqual([
      'gemini_call_1',
      'gemini_call_2',
      'gemini_call_3',
    ])
    expect(messages[1]?.parts.map((part) => part.kind === 'tool_result' && part.callId)).toEqual([
      'gemini_call_1',
      'gemini_call_3',
      'gemini_call_2',
    ])
  })

  it('may be written in either case', () => {
    const body = { system_instruction: { parts: [{ text: 'be brief' }] }, generation_config: { max_output_tokens: 7 } }
    expect(read(body)).toMatchObject({ system: [{ text: 'be brief' }], maxOutputTokens: 7 })
    expect(gemini.head(body, asked)).toEqual({ model: 'm', streams: true, maxOutputTokens: 7 })
  })

  it('that lets only some tools be called offers only those', () => {
    const tools = [{ functionDeclarations: ['a', 'b', 'c'].map((name) => ({ name })) }]
    const only = (...names: string[]) => ({ functionCallingConfig: { mode: 'ANY', allowedFunctionNames: names } })
    const some = read({ tools, toolConfig: only('a', 'b') })
    expect([some.tools.map(({ name }) => name), some.toolChoice]).toEqual([['a', 'b'], 'any'])
    expect(read({ tools, toolConfig: only('c') }).toolChoice).toEqual({ name: 'c' })
  })

  it.each([
    ['cachedContent', { cachedContent: 'cachedContents/1' }],
    ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 2 } }],
    ['contents[0].parts[0].inlineData', { contents: [{ parts: [{ inlineData: { mimeType: 'audio/mp3', data: '' } }] }] }],
  ])('is refused by the name of what no other format can say: %s', (name, body) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining(`"${name}"`) }),
    )
  })

  it.each([
    ['contents', { contents: 'hello' }],
    ['contents[0].role', { contents: [{ role: 'assistant', parts: [] }] }],
    ['generationConfig.temperature', { generationConfig: { temperature: 'hot' } }],
  ])('is refused by the name of what is wrong: %s', (name, body) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining(`"${name}"`) }))
  })

  it('to a model that wants signatures has one with every call, the own or the word for none', () => {
    const call = { kind: 'tool_call', id: 'c', name: 'look', input: {} } as const
    const parts = [
      { ...call, seal: markedSeal('gemini', 'own') },
      { ...call, seal: markedSeal('anthropic', 'other') },
    ]
    const request = { ...read({}), messages: [{ role: 'assistant', parts } as const] }
    const signatures = (target: string) =>
      (gemini.writeRequest(request, target).body.contents as [{ parts: JsonObject[] }])[0].parts.map((it) => it.thoughtSignature)
    expect(signatures('gemini-3-pro')).toEqual(['own', 'skip_thought_signature_validator'])
    expect(signatures('gemini-2.5-pro')).toEqual(['own', undefined])
  })

  it('asks for no more thinking than the model takes, and of one that cannot think for none', () => {
    const config = (target: string, thinking: object) =>
      gemini.writeRequest({ ...read({}), thinking }, target).body.generationConfig as { thinkingConfig: object } | undefined
    expect(config('gemini-2.5-flash', { budgetTokens: 31_999 })?.thinkingConfig).toEqual({
      includeThoughts: true,
      thinkingBudget: 24_576,
    })
    expect(config('gemini-2.5-pro', { effort: 'medium' })?.thinkingConfig).toEqual({
      includeThoughts: true,
      thinkingBudget: 8192,
    })
    expect(config('gemini-3-pro', { effort: 'low' })?.thinkingConfig).toEqual({ includeThoughts: true, thinkingLevel: 'LOW' })
    expect(config('gemini-2.0-flash', { effort: 'low' })).toBeUndefined()
  })

  it('tells the schema of the answer in words where the model takes none beside tools', () => {
    const outputSchema = { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } } } }
    const request = { ...read({}), outputSchema, tools: [{ name: 'look', schema: { type: 'object' } }] }
    const older = gemini.writeRequest(request, 'gemini-2.5-pro').body
    expect(older.generationConfig).toBeUndefined()
    expect(JSON.stringify(older.systemInstruction)).toContain('of this schema')
    expect(gemini.writeRequest(request, 'gemini-3-pro').body.generationConfig).toMatchObject({
      responseMimeType: 'application/json',
    })
  })

  it('puts the results of calls side by side into one content', () => {
    const call = (id: string) => ({ kind: 'tool_call', id, name: `n-${id}`, input: {} }) as const
    const result = (callId: string) => ({ kind: 'tool_result', callId, parts: [], isError: false }) as const
    const messages = [
      { role: 'assistant', parts: [call('a'), call('b')] },
      { role: 'user', parts: [result('a')] },
      { role: 'user', parts: [result('b')] },
    ] as const
    expect(gemini.writeRequest({ ...read({}), messages }, 'm').body.contents).toEqual([
      expect.anything(),
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'n-a', response: { output: '' } } },
          { functionResponse: { id: 'b', name: 'n-b', response: { output: '' } } },
        ],
      },
    ])
  })
})

const answer = (parts: unknown[], rest: JsonObject = {}, finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
  modelVersion: 'gemini-3-pro',
  responseId: 'r1',
  ...rest,
})
const usageMetadata = { promptTokenCount: 120, cachedContentTokenCount: 40, candidatesTokenCount: 12, thoughtsTokenCount: 3 }
const frames = [
  answer([{ text: 'Hmm … ', thought: true }]),
  answer([{ text: 'Grüße, ' }]),
  answer([{ functionCall: { name: 'look', args: { at: '日本' } }, thoughtSignature: 'c2ln' }, { functionCall: { name: 'go' } }]),
  answer([], { usageMetadata }, 'STOP'),
]
const usage = { inputTokens: 80, outputTokens: 15, cacheReadTokens: 40, cacheWriteTokens: 0, reasoningTokens: 3 }
const events: ModelEvent[] = [
  { type: 'start', id: 'r1', model: 'gemini-3-pro' },
  { type: 'thinking', text: 'Hmm … ' },
  { type: 'text', text: 'Grüße, ' },
  { type: 'tool_call', index: 0, id: 'call_r1_0', name: 'look', seal: markedSeal('gemini', 'c2ln') },
  { type: 'tool_input', index: 0, json: '{"at":"日本"}' },
  { type: 'tool_call', index: 1, id: 'call_r1_1', name: 'go' },
  { type: 'tool_input', index: 1, json: '{}' },
  { type: 'usage', usage },
  { type: 'end', reason: 'tool_calls' },
]

describe('a stream', () => {
  const bytes = Buffer.from(frames.map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`).join(''))

  it('gives the same events wherever it is cut', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const splitter = createFrameSplitter('sse')
      const reader = gemini.answerReader()
      const split = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at)), ...splitter.end()]
      expect([...split.flatMap((frame) => reader.read(frame)), ...reader.end()]).toEqual(events)
    }
  })

  it('that is cut off says so', () => {
    const reader = gemini.answerReader()
    reader.read({ data: JSON.stringify(frames[0]) })
    expect(reader.end()).toEqual([expect.objectContaining({ type: 'error', kind: 'unavailable' })])
  })

  it.each([
    ['a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }, { type: 'end', reason: 'refused' }],
    ['too long an answer', answer([], {}, 'MAX_TOKENS'), { type: 'end', reason: 'max_tokens' }],
    ['a blocked answer', answer([], {}, 'RECITATION'), { type: 'end', reason: 'refused' }],
    ['a model that lost its way', answer([], {}, 'MALFORMED_FUNCTION_CALL'), { type: 'error', kind: 'unavailable' }],
    ['a refusal inside', { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }, { type: 'error', kind: 'overloaded' }],
    ['what is not JSON', undefined, { type: 'error', kind: 'unavailable' }],
  ])('ends with %s', (_, frame, end) => {
    const reader = gemini.answerReader()
    expect(reader.read({ data: JSON.stringify(frame) ?? '{"broken' }).at(-1)).toMatchObject(end)
    expect(reader.end()).toEqual([])
  })

  it('is metered while it passes', () => {
    const reader = gemini.usageReader()
    for (const frame of frames) reader.frame({ data: JSON.stringify(frame) })
    expect([reader.usage, reader.hasEnded]).toEqual([usage, true])
    const array = gemini.usageReader()
    array.whole(frames as unknown as JsonObject)
    expect([array.usage, array.hasEnded]).toEqual([usage, true])
    const grounded = gemini.usageReader()
    grounded.frame({ data: '{"candidates":[{"groundingMetadata":{"webSearchQueries":["a","b"]}}]}' })
    for (const frame of frames) grounded.frame({ data: JSON.stringify(frame) })
    expect(grounded.usage).toEqual({ ...usage, pieces: { grounded_prompts: 1 } })
  })
})

describe('a refusal', () => {
  const quota = (quotaId: string) => ({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] })
  const retry = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })
  const exceeded = 'You exceeded your current quota, please check your plan and billing details.'
  const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  const refused = (code: number, message: string, details: unknown[] = [], status = '') =>
    gemini.refused({ status: code, headers: {}, text: JSON.stringify({ error: { code, message, status, details } }) }, now)

  it.each([
    [
      'a used-up minute',
      refused(429, exceeded, [quota('RequestsPerMinute-FreeTier'), retry('35s')]),
      'rate_limited',
      inSeconds(35),
    ],
    ['a minute told in words only', refused(429, `${exceeded}\nPlease retry in 12.5s.`), 'rate_limited', inSeconds(12.5)],
    [
      'a used-up day, which ends in California',
      refused(429, exceeded, [quota('RequestsPerDay'), retry('18s')]),
      'usage_limit',
      inSeconds(12 * 3600),
    ],
    ['an account without money', refused(429, exceeded), 'usage_limit', undefined],
    ['a throttle', refused(429, 'Resource has been exhausted (e.g. check quota).'), 'rate_limited', undefined],
    [
      'a wrong key',
      refused(400, 'API key not valid. Please pass a valid API key.', [{ reason: 'API_KEY_INVALID' }]),
      'unauthorized',
      undefined,
    ],
    [
      'too much',
      refused(400, 'The input token count (2) exceeds the maximum number of tokens allowed (1).'),
      'context_overflow',
      undefined,
    ],
    ['the wrong country', refused(400, 'User location is not supported.', [], 'FAILED_PRECONDITION'), 'forbidden', undefined],
    ['bad words', refused(400, 'Invalid value', [], 'INVALID_ARGUMENT'), 'invalid', undefined],
    ['a busy model', refused(503, 'The model is overloaded.'), 'overloaded', undefined],
  ])('of a provider is understood: %s', (_, { kind, retryAt }, expectedKind, expectedAt) => {
    expect([kind, retryAt]).toEqual([expectedKind, expectedAt])
  })

  it('inside a list is understood too', () => {
    const text = '[{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}]'
    expect(gemini.refused({ status: 404, headers: {}, text }, now)).toEqual({ kind: 'not_found', message: 'no such model' })
  })

  it('to a client says when to come back, in its own way', () => {
    const told = gemini.refusal({ kind: 'rate_limited', message: 'Slow down.', retryAt: inSeconds(30) }, now)
    expect(told).toEqual({
      status: 429,
      headers: { 'retry-after': '30' },
      body: { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED', details: [retry('30s')] } },
    })
  })
})
