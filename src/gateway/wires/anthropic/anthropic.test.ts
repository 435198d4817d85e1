import { expect, test } from 'vitest'
import type { JsonObject, ModelRequest } from '../model-request.ts'
import { anthropic } from './wire.ts'

const asked = { kind: 'generate' } as const
const read = (body: JsonObject) => anthropic.readRequest({ model: 'm', messages: [], ...body }, asked)

/** As Claude Code 2.1.325 sends it, shortened. */
const fromClaudeCode: JsonObject = {
  model: 'claude-opus-5-5',
  max_tokens: 128_000,
  stream: true,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.325.d8a; cc_entrypoint=sdk-cli;' },
    { type: 'text', text: 'You are a Claude agent.', cache_control: { type: 'ephemeral' } },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>\nAttribution\n</system-reminder>' },
        { type: 'text', text: 'do it' },
      ],
    },
    { role: 'system', content: '# Environment\nlinux', output_config: { effort: 'medium' } },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: 'EqoB' },
        { type: 'redacted_thinking', data: 'c2VjcmV0' },
        { type: 'text', text: 'Running.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
        { type: 'tool_use', id: 'toolu_2', name: 'ToolSearch', input: { query: 'select:WebFetch' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          tool_use_id: 'toolu_1',
          type: 'tool_result',
          content: [
            { type: 'text', text: 'no such file' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } },
          ],
          is_error: true,
        },
        { tool_use_id: 'toolu_2', type: 'tool_result', content: [{ type: 'tool_reference', tool_name: 'WebFetch' }] },
        { type: 'text', text: 'Tool loaded.', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
  tools: [
    { name: 'Bash', description: 'Runs.', input_schema: { type: 'object', properties: { command: { type: 'string' } } } },
    { name: 'WebFetch', description: 'Fetches.', input_schema: { type: 'object' }, defer_loading: true },
    { name: 'DeferredToolPlaceholder', description: 'Never.', input_schema: { type: 'object' }, defer_loading: true },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
  ],
  metadata: { user_id: '{}' },
  thinking: { type: 'adaptive', display: 'updates' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'medium', format: { type: 'json_schema', schema: { type: 'object', properties: {} } } },
}

test('a request of Claude Code is read whole', () => {
  expect(anthropic.head(fromClaudeCode, asked)).toEqual({ model: 'claude-opus-5-5', streams: true, maxOutputTokens: 128_000 })
  expect(anthropic.readRequest(fromClaudeCode, asked)).toEqual({
    model: 'claude-opus-5-5',
    system: [{ kind: 'text', text: 'You are a Claude agent.', isCacheMark: true }],
    messages: [
      {
        role: 'user',
        parts: [
          { kind: 'text', text: '<system-reminder>\nAttribution\n</system-reminder>' },
          { kind: 'text', text: 'do it' },
          { kind: 'text', text: '<system-reminder>\n# Environment\nlinux\n</system-reminder>' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'Let me see.', seal: 'anthropic:EqoB' },
          { kind: 'thinking', text: '', seal: 'anthropic:redacted:c2VjcmV0' },
          { kind: 'text', text: 'Running.' },
          { kind: 'tool_call', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
          { kind: 'tool_call', id: 'toolu_2', name: 'ToolSearch', input: { query: 'select:WebFetch' } },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            kind: 'tool_result',
            callId: 'toolu_1',
            parts: [
              { kind: 'text', text: 'no such file' },
              { kind: 'image', mediaType: 'image/png', data: 'aW1n' },
            ],
            isError: true,
          },
          {
            kind: 'tool_result',
            callId: 'toolu_2',
            parts: [{ kind: 'text', text: 'The tool WebFetch is now offered.' }],
            isError: false,
          },
          { kind: 'text', text: 'Tool loaded.', isCacheMark: true },
        ],
      },
    ],
    tools: [
      { name: 'Bash', description: 'Runs.', schema: { type: 'object', properties: { command: { type: 'string' } } } },
      { name: 'WebFetch', description: 'Fetches.', schema: { type: 'object' } },
    ],
    toolChoice: 'auto',
    parallelTools: true,
    maxOutputTokens: 128_000,
    stop: [],
    thinking: { effort: 'medium' },
    outputSchema: { name: 'answer', schema: { type: 'object', properties: {} } },
    streams: true,
  } satisfies ModelRequest)
})

test('tools come and go in the middle of a conversation', () => {
  const tool = (name: string) => ({ name, input_schema: { type: 'object' } })
  const change = (type: string, content: JsonObject) => ({ role: 'system', content: [{ type, tool: content }] })
  const { tools } = read({
    tools: [tool('a'), { ...tool('b'), defer_loading: true }],
    messages: [
      change('tool_removal', { type: 'tool_reference', name: 'a' }),
      change('tool_addition', { type: 'tool_reference', name: 'b' }),
      change('tool_addition', { type: 'tool_definition', definition: tool('c') }),
    ],
  })
  expect(tools.map(({ name }) => name)).toEqual(['b', 'c'])
})

test('what no other format can carry is refused with its name', () => {
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: '' } }
  expect(() => read({ messages: [{ role: 'user', content: [pdf] }] })).toThrow('a document of the type "application/pdf"')
  expect(() => read({ messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] })).toThrow(
    '"container_upload" block',
  )
  const search = { type: 'web_search_20250305', name: 'web_search' }
  expect(() => read({ tools: [search] })).toThrow(`The tool "web_search" is run by Anthropic's own service`)
  const other = { name: 'a', input_schema: { type: 'object' } }
  expect(() => read({ tools: [search, other], tool_choice: { type: 'tool', name: 'web_search' } })).toThrow('"web_search"')
  expect(read({ tools: [search, other] }).tools).toHaveLength(1)
  expect(() => read({ tools: [{ type: 'bash_20250124', name: 'bash' }, other] })).toThrow('"bash_20250124"')
  expect(() => anthropic.readRequest({ messages: [] }, asked)).toThrow('The request has no "model"')
  expect(() => anthropic.readRequest({ model: 'm' }, asked)).toThrow('The request has no list of "messages"')
})

const request = (over: Partial<ModelRequest>): ModelRequest => ({
  model: 'm',
  system: [],
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
  tools: [],
  toolChoice: 'auto',
  parallelTools: true,
  stop: [],
  streams: false,
  ...over,
})
const written = (over: Partial<ModelRequest>, target = 'claude-sonnet-5') => anthropic.writeRequest(request(over), target).body

test('a request for Anthropic asks for a cache, and gives a number where one is wanted', () => {
  expect(anthropic.writeRequest(request({ system: [{ kind: 'text', text: 'Be kind.' }] }), 'claude-sonnet-5')).toEqual({
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 32_000,
      system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
    },
  })
})

test('only thoughts that Anthropic has signed go back to it, and results stand first', () => {
  const { messages } = written({
    messages: [
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'foreign', seal: 'gemini:x' },
          { kind: 'thinking', text: 'open' },
          { kind: 'thinking', text: 'own', seal: 'anthropic:EqoB' },
          { kind: 'thinking', text: '', seal: 'anthropic:redacted:c2Vj' },
          { kind: 'tool_call', id: 'call.1', name: 'a', input: {} },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'also', isCacheMark: true },
          { kind: 'tool_result', callId: 'call.1', parts: [], isError: true },
        ],
      },
    ],
  })
  expect(messages).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'own', signature: 'EqoB' },
        { type: 'redacted_thinking', data: 'c2Vj' },
        { type: 'tool_use', id: 'call_Y2FsbC4x', name: 'a', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_Y2FsbC4x', content: [], is_error: true },
        { type: 'text', text: 'also', cache_control: { type: 'ephemeral' } },
      ],
    },
  ])
})

test('each model is asked to think in the way it knows', () => {
  const thinking = { effort: 'high' } as const
  expect(written({ thinking })).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
  for (const old of ['claude-sonnet-4-5-20250929', 'claude-opus-4-1', 'claude-3-7-sonnet-latest', 'MiniMax-M2'])
    expect(written({ thinking }, old), old).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 24_576 } })
  expect(written({ thinking, maxOutputTokens: 2000 }, 'claude-sonnet-4-5')).toMatchObject({ thinking: { budget_tokens: 1999 } })
  expect(written({ thinking, maxOutputTokens: 1000 }, 'claude-sonnet-4-5')).not.toHaveProperty('thinking')
  expect(written({ thinking }, 'claude-3-5-haiku-latest')).not.toHaveProperty('thinking')
  expect(written({ thinking, toolChoice: 'any', tools: [{ name: 'a', schema: {} }] })).not.toHaveProperty('thinking')
  expect(written({ thinking, temperature: 0.3 })).not.toHaveProperty('temperature')
})

test('a model with a budget does not think on where its first thought is lost', () => {
  const turn = (seal?: string): Partial<ModelRequest> => ({
    thinking: { budgetTokens: 4096 },
    messages: [
      { role: 'user', parts: [{ kind: 'text', text: 'Go' }] },
      {
        role: 'assistant',
        parts: [
          ...(seal ? [{ kind: 'thinking', text: 'Hm.', seal } as const] : []),
          { kind: 'tool_call', id: 'a', name: 'a', input: {} },
        ],
      },
      { role: 'user', parts: [{ kind: 'tool_result', callId: 'a', parts: [], isError: false }] },
    ],
  })
  expect(written(turn(), 'claude-sonnet-4-5')).not.toHaveProperty('thinking')
  expect(written(turn('anthropic:EqoB'), 'claude-sonnet-4-5')).toHaveProperty('thinking')
})

const now = new Date('2026-11-15T12:00:00Z')
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const refused = (status: number, type: string, message: string, headers = {}) =>
  anthropic.refused({ status, headers, text: JSON.stringify({ type: 'error', error: { type, message } }) }, now)

test('limits are read with the time at which they end', () => {
  const unified = {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(inSeconds(7200).getTime() / 1000),
    'retry-after': '7200',
  }
  expect(refused(429, 'rate_limit_error', 'Over.', unified)).toEqual({
    kind: 'usage_limit',
    message: 'Over.',
    retryAt: inSeconds(7200),
  })
  expect(refused(429, 'rate_limit_error', 'Slow.', { 'retry-after': '30' })).toMatchObject({
    kind: 'rate_limited',
    retryAt: inSeconds(30),
  })
  const minute = {
    'anthropic-ratelimit-input-tokens-remaining': '0',
    'anthropic-ratelimit-input-tokens-reset': '2026-11-15T12:00:41Z',
  }
  expect(refused(429, 'rate_limit_error', 'Slow.', minute)).toMatchObject({ retryAt: inSeconds(41) })
  expect(refused(529, 'overloaded_error', 'Overloaded')).toEqual({ kind: 'overloaded', message: 'Overloaded' })
  expect(refused(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum').kind).toBe(
    'context_overflow',
  )
  expect(refused(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.').kind).toBe(
    'usage_limit',
  )
  const own = 'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.'
  expect(refused(400, 'invalid_request_error', own)).toMatchObject({
    kind: 'usage_limit',
    retryAt: new Date('2026-12-01T00:00:00Z'),
  })
})

test('an answer that is no JSON is told by its status', () => {
  const page = { status: 502, headers: {}, text: '<html>Bad gateway</html>' }
  expect(anthropic.refused(page, now)).toEqual({ kind: 'unavailable', message: 'The provider answered with status 502.' })
})

test('the models that there are can be listed and asked for one by one', () => {
  expect(anthropic.asked('GET', '/v1/models')).toEqual({ kind: 'models' })
  expect(anthropic.asked('GET', '/v1/models/a%2Fb')).toEqual({ kind: 'models', model: 'a/b' })
  expect(anthropic.listed(['a/b'], '/v1/models/a%2Fb', {})).toMatchObject({ id: 'a/b', type: 'model' })
  expect(anthropic.listed(['a/b'], '/v1/models/c', {})).toBeUndefined()
  expect(anthropic.listed(['a/b'], '/v1/models', {})).toMatchObject({ data: [{ id: 'a/b' }], has_more: false })
})

test('an hour of cache and searches are counted beside the tokens', () => {
  const reader = anthropic.usageReader()
  const usage = {
    input_tokens: 5,
    output_tokens: 7,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
  }
  reader.whole({ stop_reason: 'end_turn', usage })
  expect(reader.usage).toMatchObject({ cacheWriteTokens: 30, cacheWriteHourTokens: 20, pieces: { web_search_requests: 2 } })
})

test('an answer that breaks off after its beginning has told what went in', () => {
  const reader = anthropic.answerReader()
  const message = { id: 'msg_1', model: 'm', usage: { input_tokens: 9, output_tokens: 1 } }
  reader.read({ data: JSON.stringify({ type: 'message_start', message }) })
  const begun = reader.read({
    data: JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  })
  expect(begun).toMatchObject([{ type: 'usage', usage: { inputTokens: 9 } }])
  expect(reader.end()).toMatchObject([{ type: 'error', kind: 'unavailable' }])
})
