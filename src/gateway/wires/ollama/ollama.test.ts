import { describe, expect, it } from 'vitest'
import { createFrameSplitter } from '../frames.ts'
import type { ModelEvent } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { ollama } from './ollama.ts'

const asked = { kind: 'generate' } as const
const now = new Date('2026-03-01T20:00:00Z')
const read = (body: JsonObject) => ollama.readRequest({ model: 'm', messages: [], ...body }, asked)

describe('what a request wants', () => {
  it.each([
    ['POST', '/api/chat', { kind: 'generate' }],
    ['GET', '/api/tags', { kind: 'models' }],
    ['POST', '/api/show', { kind: 'models' }],
    ['GET', '/api/version', { kind: 'models' }],
    ['POST', '/api/pull', undefined],
    ['POST', '/v1/chat/completions', undefined],
  ])('%s %s', (method, path, wanted) => {
    expect(ollama.asked(method, path)).toEqual(wanted)
  })

  it('lists models, or shows one of them', () => {
    expect(ollama.listed(['a', 'b'], '/api/tags', {})).toMatchObject({ models: [{ name: 'a' }, { name: 'b' }] })
    expect(ollama.listed(['a'], '/api/show', { model: 'a:latest' })).toMatchObject({
      capabilities: expect.arrayContaining(['tools']),
    })
    expect(ollama.listed(['a'], '/api/show', { model: 'b' })).toBeUndefined()
    expect(ollama.listed([], '/api/version', {})).toEqual({ version: expect.any(String) })
  })
})

describe('a request', () => {
  it('streams and has no end unless it says so', () => {
    expect(ollama.head({ model: 'm' }, asked)).toEqual({ model: 'm', streams: true })
    expect(ollama.head({ model: 'm', stream: false, options: { num_predict: 9 } }, asked)).toEqual({
      model: 'm',
      streams: false,
      maxOutputTokens: 9,
    })
    expect(ollama.head({ model: 'm', options: { num_predict: -1 } }, asked)).toEqual({ model: 'm', streams: true })
  })

  it('may give calls and results no ids', () => {
    const call = (name: string) => ({ function: { name, arguments: {} } })
    const { messages } = read({
      messages: [
        { role: 'assistant', content: '', tool_calls: [call('look'), call('go')] },
        { role: 'tool', content: 'gone', tool_name: 'go' },
        { role: 'tool', content: 'seen' },
      ],
    })
    expect(messages[1]?.parts).toEqual([
      { kind: 'tool_result', callId: 'ollama_call_2', name: 'go', parts: [{ kind: 'text', text: 'gone' }], isError: false },
      { kind: 'tool_result', callId: 'ollama_call_1', name: 'look', parts: [{ kind: 'text', text: 'seen' }], isError: false },
    ])
  })

  it('tells what an image is by its first bytes', () => {
    const images = ['/9j/4AAQ', 'iVBORw0KGgoAAA', 'R0lGODlh', 'UklGRgAA']
    const { messages } = read({ messages: [{ role: 'user', content: 'see', images }] })
    expect(messages[0]?.parts.slice(1).map((part) => part.kind === 'image' && part.mediaType)).toEqual([
      'image/jpeg',
      'image/png',
      'image/gif',
      'image/webp',
    ])
  })

  it('cannot send an image by its address', () => {
    const image = { kind: 'image', mediaType: 'image/png', url: 'https://example.org/a.png' } as const
    const request = { ...read({}), messages: [{ role: 'user', parts: [image] } as const] }
    expect(() => ollama.writeRequest(request, 'm')).toThrow(expect.objectContaining({ code: 'unsupported' }))
  })

  it('asks only those to think who know how, and never to forget', () => {
    const written = (target: string) => ollama.writeRequest({ ...read({}), thinking: { effort: 'high' } }, target).body
    expect(written('gpt-oss:20b')).toMatchObject({ think: 'high', truncate: false, shift: false })
    expect(written('qwen2.5-coder')).not.toHaveProperty('think')
  })

  it('lets a tool be forbidden or chosen by what is offered', () => {
    const tools = ['a', 'b'].map((name) => ({ name, schema: { type: 'object' } }))
    const offered = (toolChoice: 'none' | { name: string }) =>
      ollama.writeRequest({ ...read({}), tools, toolChoice }, 'm').body.tools
    expect(offered('none')).toBeUndefined()
    expect(offered({ name: 'b' })).toMatchObject([{ function: { name: 'b' } }])
  })

  it.each([
    ['messages', { messages: {} }],
    ['messages[0].role', { messages: [{ role: 'robot', content: '' }] }],
    ['options.temperature', { options: { temperature: 'hot' } }],
  ])('is refused by the name of what is wrong: %s', (name, body) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining(`"${name}"`) }))
  })
})

const line = (message: JsonObject, rest: JsonObject = { done: false }) => ({
  model: 'gpt-oss:20b',
  created_at: '2026-03-01T20:00:00.123456789Z',
  message: { role: 'assistant', content: '', ...message },
  ...rest,
})
const lines = [
  line({ thinking: 'Hmm … ' }),
  line({ content: 'Grüße, ' }),
  line({
    tool_calls: [
      { function: { name: 'look', arguments: { at: '日本' } } },
      { id: 'own', function: { name: 'go', arguments: {} } },
    ],
  }),
  line({}, { done: true, done_reason: 'stop', prompt_eval_count: 120, eval_count: 15 }),
]
const usage = { inputTokens: 120, outputTokens: 15, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
const events: ModelEvent[] = [
  { type: 'start', id: expect.any(String), model: 'gpt-oss:20b' },
  { type: 'thinking', text: 'Hmm … ' },
  { type: 'text', text: 'Grüße, ' },
  { type: 'tool_call', index: 0, id: expect.stringMatching(/^call_[0-9a-f]{24}_0$/), name: 'look' },
  { type: 'tool_input', index: 0, json: '{"at":"日本"}' },
  { type: 'tool_call', index: 1, id: 'own', name: 'go' },
  { type: 'tool_input', index: 1, json: '{}' },
  { type: 'usage', usage },
  { type: 'end', reason: 'tool_calls' },
]

describe('a stream', () => {
  const bytes = Buffer.from(lines.map((it) => `${JSON.stringify(it)}\n`).join(''))

  it('gives the same events wherever it is cut', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const splitter = createFrameSplitter('ndjson')
      const reader = ollama.answerReader()
      const split = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at)), ...splitter.end()]
      expect([...split.flatMap((frame) => reader.read(frame)), ...reader.end()]).toEqual(events)
    }
  })

  it('that is cut off says so', () => {
    const reader = ollama.answerReader()
    reader.read({ data: JSON.stringify(lines[0]) })
    expect(reader.end()).toEqual([expect.objectContaining({ type: 'error', kind: 'unavailable' })])
  })

  it.each([
    ['too long an answer', line({}, { done: true, done_reason: 'length' }), { type: 'end', reason: 'max_tokens' }],
    ['a refusal inside', { error: 'an error was encountered while running the model' }, { type: 'error', kind: 'unavailable' }],
    ['what is not JSON', undefined, { type: 'error', kind: 'unavailable' }],
  ])('ends with %s', (_, frame, end) => {
    const reader = ollama.answerReader()
    expect(reader.read({ data: JSON.stringify(frame) ?? '{"broken' }).at(-1)).toMatchObject(end)
    expect(reader.end()).toEqual([])
  })

  it('is metered while it passes', () => {
    const reader = ollama.usageReader()
    for (const it of lines) reader.frame({ data: JSON.stringify(it) })
    expect([reader.usage, reader.hasEnded]).toEqual([usage, true])
  })
})

describe('a refusal', () => {
  const engineOverflow = JSON.stringify({
    error: { code: 400, message: 'request (9 tokens) exceeds the available context size (4 tokens)' },
  })
  const refused = (status: number, error: string, headers = {}) =>
    ollama.refused({ status, headers, text: JSON.stringify({ error }) }, now)

  it.each([
    ['no such model', refused(404, "model 'm' not found"), 'not_found', undefined],
    ['too much', refused(400, 'the input length exceeds the context length'), 'context_overflow', undefined],
    ['too much, in the words of its engine', refused(400, engineOverflow), 'context_overflow', undefined],
    ['too many', refused(503, 'server busy, please try again. maximum pending requests exceeded'), 'overloaded', undefined],
    ['a used-up plan', refused(429, 'you have reached your usage limit'), 'usage_limit', undefined],
    ['a throttle', refused(429, 'too many requests', { 'retry-after': '7' }), 'rate_limited', new Date(now.getTime() + 7000)],
    ['a crash', refused(500, 'llama runner process has terminated'), 'unavailable', undefined],
  ])('of a provider is understood: %s', (_, { kind, retryAt }, expectedKind, expectedAt) => {
    expect([kind, retryAt]).toEqual([expectedKind, expectedAt])
  })

  it('to a client is a status and words', () => {
    expect(ollama.refusal({ kind: 'not_found', message: 'No such model.' }, now)).toEqual({
      status: 404,
      headers: {},
      body: { error: 'No such model.' },
    })
  })
})
