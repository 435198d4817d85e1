import { expect, test } from 'vitest'
import { anthropic } from './anthropic/wire.ts'
import { createFrameSplitter } from './frames.ts'
import { type ModelAnswer, type ModelEvent, refusalKinds } from './model-event.ts'
import type { ModelRequest } from './model-request.ts'
import { openaiChat } from './openai-chat/wire.ts'
import { openaiResponses } from './openai-responses/wire.ts'
import type { Wire } from './wire.ts'

const formats = [anthropic, openaiResponses, openaiChat]

const request: ModelRequest = {
  model: 'asked',
  system: [],
  messages: [],
  tools: [],
  toolChoice: 'auto',
  parallelTools: true,
  stop: [],
  streams: true,
}

const usage = { inputTokens: 80, outputTokens: 15, cacheReadTokens: 40, cacheWriteTokens: 7, reasoningTokens: 3 }

const answer: ModelEvent[] = [
  { type: 'start', id: 'id_1', model: 'some-model' },
  { type: 'thinking', text: 'Let me ' },
  { type: 'thinking', text: 'think, grüße 🦉.' },
  { type: 'thinking_seal', seal: 'gemini:c2VhbA==' },
  { type: 'text', text: 'Run' },
  { type: 'text', text: 'ning "both".\n' },
  { type: 'tool_call', index: 0, id: 'call_a', name: 'shell', seal: 'gemini:Y2FsbA==' },
  { type: 'tool_input', index: 0, json: '{"command":' },
  { type: 'tool_input', index: 0, json: '"ls"}' },
  { type: 'tool_call', index: 1, id: 'call_b', name: 'read' },
  { type: 'tool_input', index: 1, json: '{"path":"ü.txt"}' },
  { type: 'usage', usage },
  { type: 'end', reason: 'tool_calls' },
]

function written(wire: Wire, events: readonly ModelEvent[], asked = request): string {
  const writer = wire.answerStream(asked)
  return events.map((event) => writer.write(event)).join('') + writer.end()
}

function read(wire: Wire, pieces: readonly Uint8Array[]): ModelEvent[] {
  const splitter = createFrameSplitter(wire.framing)
  const reader = wire.answerReader()
  const frames = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()]
  return [...frames.flatMap((frame) => reader.read(frame)), ...reader.end()]
}

for (const wire of formats) {
  test(`${wire.name}: an answer that is written and read back is the same, wherever it is cut`, () => {
    const bytes = Buffer.from(written(wire, answer))
    expect(read(wire, [bytes])).toEqual(answer)
    const frames = JSON.stringify(createFrameSplitter(wire.framing).push(bytes))
    for (let at = 0; at <= bytes.length; at++) {
      const splitter = createFrameSplitter(wire.framing)
      const cut = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at))]
      if (JSON.stringify(cut) !== frames) expect.fail(`cut at ${at} it gives other frames`)
    }
  })

  test(`${wire.name}: a stream that ends at any byte before its end says that it broke off`, () => {
    const bytes = Buffer.from(written(wire, answer))
    const last = wire.name === 'openai-chat' ? bytes.indexOf('"finish_reason":"tool_calls"') : bytes.length - 3
    for (let at = 0; at < last; at += 41) {
      const events = read(wire, [bytes.subarray(0, at)])
      expect(events.at(-1), `cut at ${at}`).toMatchObject({ type: 'error', kind: 'unavailable' })
      expect(events.slice(0, -1)).toEqual(answer.slice(0, events.length - 1))
    }
  })

  test(`${wire.name}: a seal of its own goes through bare`, () => {
    const raw = wire.name === 'openai-responses' ? 'rs_1 gAAAA' : 'RXFv'
    const events: ModelEvent[] = [
      { type: 'start', id: 'id_1', model: 'm' },
      { type: 'thinking', text: 'Hm.' },
      { type: 'thinking_seal', seal: `${wire.name}:${raw}` },
      { type: 'text', text: 'Yes.' },
      { type: 'end', reason: 'end' },
    ]
    const text = written(wire, events)
    expect(text).toContain(`"${raw.split(' ').at(-1)}"`)
    expect(read(wire, [Buffer.from(text)]).filter(({ type }) => type !== 'usage')).toEqual(events)
  })

  test(`${wire.name}: the usage of a passing stream is read, and that it ended`, () => {
    const text = written(wire, answer)
    const reader = wire.usageReader()
    expect([reader.usage, reader.hasEnded]).toEqual([undefined, false])
    for (const frame of createFrameSplitter('sse').push(Buffer.from(text))) reader.frame(frame)
    expect([reader.usage, reader.hasEnded]).toEqual([usage, true])
    const cut = wire.usageReader()
    for (const frame of createFrameSplitter('sse').push(Buffer.from(text.slice(0, text.indexOf('ning'))))) cut.frame(frame)
    expect(cut.hasEnded).toBe(false)
  })

  test(`${wire.name}: a whole answer that is written and read back is the same`, () => {
    const whole: ModelAnswer = {
      id: 'id_1',
      model: 'some-model',
      parts: [
        { kind: 'thinking', text: 'Let me think.', seal: 'gemini:c2VhbA==' },
        { kind: 'text', text: 'Running.' },
        { kind: 'tool_call', id: 'call_a', name: 'shell', input: { command: 'ls' }, seal: 'gemini:Y2FsbA==' },
        { kind: 'tool_call', id: 'call_b', name: 'read', input: {} },
      ],
      reason: 'tool_calls',
      usage,
    }
    const body = wire.answerWhole(whole, request)
    expect(wire.readWhole(JSON.parse(JSON.stringify(body)))).toEqual(whole)
    const reader = wire.usageReader()
    reader.whole(body)
    expect([reader.usage, reader.hasEnded]).toEqual([usage, true])
  })

  test(`${wire.name}: calls that come side by side reach the client one after another`, () => {
    const [begin, ...rest] = answer.filter(({ type }) => type !== 'tool_call' && type !== 'tool_input')
    const calls: ModelEvent[] = [
      { type: 'tool_call', index: 0, id: 'a', name: 'one' },
      { type: 'tool_call', index: 1, id: 'b', name: 'two' },
      { type: 'tool_input', index: 1, json: '{"b":' },
      { type: 'tool_input', index: 0, json: '{"a":' },
      { type: 'tool_input', index: 1, json: '2}' },
      { type: 'tool_input', index: 0, json: '1}' },
    ]
    const events = read(wire, [Buffer.from(written(wire, [begin!, ...calls, rest.at(-1)!]))])
    const inputs = ['', '']
    for (const event of events) if (event.type === 'tool_input') inputs[event.index] += event.json
    expect(inputs).toEqual(['{"a":1}', '{"b":2}'])
  })

  test(`${wire.name}: events and fields that are not known are no error`, () => {
    const reader = wire.answerReader()
    expect(
      reader.read({ event: 'new', data: '{"type":"something.new","usage_of_it":1,"choices":[]}' }).map(({ type }) => type),
    ).not.toContain('error')
    const told = wire.usageReader()
    told.frame({ event: 'new', data: '{"type":"something.new","usage":"none"}' })
    expect(told.usage).toBeUndefined()
  })

  test(`${wire.name}: an event that is no JSON is said to be none`, () => {
    expect(wire.answerReader().read({ data: '{"type":' })).toMatchObject([
      { type: 'error', message: expect.stringContaining('not JSON') },
    ])
  })

  test(`${wire.name}: a provider that gives up in the middle is understood as it was meant`, () => {
    for (const kind of ['rate_limited', 'overloaded', 'context_overflow', 'not_found', 'timed_out'] as const) {
      const text = written(wire, [answer[0]!, { type: 'error', kind, message: 'It is over.' }])
      const last = read(wire, [Buffer.from(text)]).at(-1)
      expect(last).toMatchObject({ type: 'error', kind, message: expect.stringContaining('It is over.') })
      const frame = wire.refusalFrame({ kind, message: 'It is over.' }, new Date())
      expect(read(wire, [Buffer.from(frame)]).at(-1)).toEqual(last)
    }
  })

  test(`${wire.name}: every refusal that it writes is one that it understands`, () => {
    const now = new Date('2026-11-15T12:00:00Z')
    const retryAt = new Date('2026-11-15T14:00:00Z')
    for (const kind of refusalKinds) {
      const { status, headers, body } = wire.refusal({ kind, message: 'Not now.', retryAt }, now)
      const understood = wire.refused({ status, headers, text: JSON.stringify(body) }, now)
      // Having spent its budget is our own affair: to a client it is a refusal for good.
      if (kind === 'over_budget') expect(understood.retryAt).toBeUndefined()
      else expect(understood.kind).toBe(kind)
      if (kind === 'rate_limited' || kind === 'usage_limit' || kind === 'overloaded') expect(understood.retryAt).toEqual(retryAt)
    }
  })
}

test('a whole answer that is an error is none', () => {
  const error = { message: 'Out of order.' }
  expect(() => anthropic.readWhole({ type: 'error', error })).toThrow('The provider gave up: Out of order.')
  expect(() => openaiResponses.readWhole({ id: 'r', status: 'failed', error })).toThrow('The provider gave up: Out of order.')
  expect(() => openaiChat.readWhole({ error })).toThrow('The provider gave up: Out of order.')
})

test('a server that passes on the answers of others tells their status in the code', () => {
  const data = JSON.stringify({
    id: 'c',
    choices: [{ delta: {}, finish_reason: 'error' }],
    error: { code: 429, message: 'Slow.' },
  })
  expect(openaiChat.answerReader().read({ data })).toEqual([{ type: 'error', kind: 'rate_limited', message: 'Slow.' }])
})
