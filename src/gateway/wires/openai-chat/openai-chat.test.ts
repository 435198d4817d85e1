import { expect, test } from 'vitest'
import type { JsonObject, ModelRequest } from '../model-request.ts'
import { openaiChat } from './wire.ts'

const asked = { kind: 'generate' } as const
const read = (body: JsonObject) => openaiChat.readRequest({ model: 'm', messages: [], ...body }, asked)

test('a request of a client is read whole', () => {
  const request = read({
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'developer', content: [{ type: 'text', text: 'And short.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
          { id: 'c2', type: 'function', function: { name: 'b', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'tool', tool_call_id: 'c2', name: 'b', content: [{ type: 'text', text: 'fine' }] },
      { role: 'system', content: 'Now be quick.' },
    ],
    tools: [{ type: 'function', function: { name: 'a', description: 'Does.', parameters: { type: 'object' }, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'a' } },
    parallel_tool_calls: false,
    max_completion_tokens: 100,
    max_tokens: 5,
    temperature: 0.5,
    top_p: 0.9,
    stop: 'END',
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'shape', schema: { type: 'object', properties: {} } } },
    stream: true,
    stream_options: { include_usage: true },
    user: 'someone',
  })
  expect(request).toEqual({
    model: 'm',
    system: [
      { kind: 'text', text: 'Be kind.' },
      { kind: 'text', text: 'And short.' },
    ],
    messages: [
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'Look' },
          { kind: 'image', mediaType: 'image/png', url: 'https://x.test/a.png' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'Hm.' },
          { kind: 'tool_call', id: 'c1', name: 'a', input: { x: 1 } },
          { kind: 'tool_call', id: 'c2', name: 'b', input: {} },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'tool_result', callId: 'c1', parts: [{ kind: 'text', text: 'ok' }], isError: false },
          { kind: 'tool_result', callId: 'c2', name: 'b', parts: [{ kind: 'text', text: 'fine' }], isError: false },
          { kind: 'text', text: '<system-reminder>\nNow be quick.\n</system-reminder>' },
        ],
      },
    ],
    tools: [{ name: 'a', description: 'Does.', schema: { type: 'object' } }],
    toolChoice: { name: 'a' },
    parallelTools: false,
    maxOutputTokens: 100,
    temperature: 0.5,
    topP: 0.9,
    stop: ['END'],
    thinking: { effort: 'low' },
    outputSchema: { name: 'shape', schema: { type: 'object', properties: {} } },
    wantsUsage: true,
    streams: true,
  } satisfies ModelRequest)
})

test('what no other format can carry is refused with its name', () => {
  expect(() => read({ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] })).toThrow('a "input_audio" part')
  expect(() => read({ n: 3 })).toThrow('leave out "n"')
  expect(() => openaiChat.readRequest({ messages: [] }, asked)).toThrow('The request has no "model"')
})

const request: ModelRequest = {
  ...read({}),
  system: [{ kind: 'text', text: 'Be kind.' }],
  messages: [
    { role: 'user', parts: [{ kind: 'text', text: 'Look' }] },
    {
      role: 'assistant',
      parts: [
        { kind: 'thinking', text: 'sealed elsewhere', seal: 'anthropic:x' },
        { kind: 'thinking', text: 'Hm.' },
        { kind: 'text', text: 'Well.' },
        { kind: 'tool_call', id: 'c1', name: 'a', input: {}, seal: 'openai-chat:sig' },
      ],
    },
    {
      role: 'user',
      parts: [
        { kind: 'tool_result', callId: 'c1', parts: [{ kind: 'image', mediaType: 'image/png', data: 'aW1n' }], isError: false },
        { kind: 'text', text: 'And?' },
      ],
    },
  ],
  tools: [{ name: 'a', schema: { type: 'object' } }],
  toolChoice: 'any',
  maxOutputTokens: 100,
  thinking: { effort: 'high' },
  temperature: 0.5,
  streams: true,
}

test('a request is written for the servers of others: open thoughts go back, sealed ones do not, and images follow their result', () => {
  const { path, body } = openaiChat.writeRequest(request, 'qwen3-coder')
  expect(path).toBe('/chat/completions')
  expect(body).toEqual({
    model: 'qwen3-coder',
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        content: 'Well.',
        reasoning_content: 'Hm.',
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'a', arguments: '{}' },
            extra_content: { google: { thought_signature: 'sig' } },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'The image follows.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'required',
    max_tokens: 100,
    temperature: 0.5,
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('a request for a model of OpenAI that thinks has the fields that it takes', () => {
  const { body } = openaiChat.writeRequest(request, 'gpt-5.1')
  expect(body).toMatchObject({ max_completion_tokens: 100, reasoning_effort: 'high' })
  expect(body).not.toHaveProperty('max_tokens')
  expect(body).not.toHaveProperty('temperature')
  expect(openaiChat.writeRequest(request, 'gpt-4.1').body).not.toHaveProperty('reasoning_effort')
})

const chunk = (delta: JsonObject, more: JsonObject = {}) => ({
  data: JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] }),
})

test('calls are told apart even by servers that number all of them 0', () => {
  const reader = openaiChat.answerReader()
  const call = (id: string) => ({ tool_calls: [{ index: 0, id, function: { name: 'a', arguments: `{"id":"${id}"}` } }] })
  const events = [chunk(call('x')), chunk(call('y')), chunk({}, { finish_reason: 'stop' }), { data: '[DONE]' }].flatMap((frame) =>
    reader.read(frame),
  )
  expect(events.slice(1)).toEqual([
    { type: 'tool_call', index: 0, id: 'x', name: 'a' },
    { type: 'tool_input', index: 0, json: '{"id":"x"}' },
    { type: 'tool_call', index: 1, id: 'y', name: 'a' },
    { type: 'tool_input', index: 1, json: '{"id":"y"}' },
    { type: 'end', reason: 'tool_calls' },
  ])
})

test('a call without input, and a server that does not say that it is done, are understood', () => {
  const reader = openaiChat.answerReader()
  reader.read(chunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'a' } }] }))
  reader.read(chunk({}, { finish_reason: 'tool_calls' }))
  expect(reader.end()).toEqual([
    { type: 'tool_input', index: 0, json: '{}' },
    { type: 'end', reason: 'tool_calls' },
  ])
})

test('the usage of a passing stream is read wherever a server puts it', () => {
  const counted = (body: JsonObject) => {
    const reader = openaiChat.usageReader()
    reader.frame(chunk({ content: 'about "usage"' }))
    reader.frame({ data: JSON.stringify(body) })
    return reader.usage
  }
  const none = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  expect(counted({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 2 } })).toEqual({
    ...none,
    inputTokens: 10,
    outputTokens: 2,
  })
  const deepseek = { prompt_tokens: 10, completion_tokens: 2, prompt_cache_hit_tokens: 4 }
  expect(counted({ choices: [], usage: deepseek })).toEqual({ ...none, inputTokens: 6, outputTokens: 2, cacheReadTokens: 4 })
  expect(counted({ choices: [{ usage: { prompt_tokens: 3, completion_tokens: 1 } }] })).toMatchObject({ inputTokens: 3 })
  expect(counted({ choices: [], usage: null })).toBeUndefined()
})

test('the models that there are can be listed and asked for one by one', () => {
  expect(openaiChat.asked('GET', '/v1/models')).toEqual({ kind: 'models' })
  expect(openaiChat.listed(['a/b'], '/v1/models', {})).toMatchObject({ object: 'list', data: [{ id: 'a/b', object: 'model' }] })
  expect(openaiChat.listed(['a/b'], '/v1/models/a/b', {})).toMatchObject({ id: 'a/b' })
  expect(openaiChat.listed(['a/b'], '/v1/models/c', {})).toBeUndefined()
})

test('the larger of two bounds is what an answer may come to', () => {
  const head = (body: object) => openaiChat.head({ model: 'm', ...body }, { kind: 'generate' }).maxOutputTokens
  expect(head({ max_completion_tokens: 1, max_tokens: 9_000 })).toBe(9_000)
  expect(head({ max_completion_tokens: 5 })).toBe(5)
  expect(head({ max_tokens: 7, max_completion_tokens: null })).toBe(7)
})
