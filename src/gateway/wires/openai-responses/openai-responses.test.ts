import { expect, test } from 'vitest'
import { createFrameSplitter } from '../frames.ts'
import type { ModelEvent } from '../model-event.ts'
import type { JsonObject, ModelRequest } from '../model-request.ts'
import { openaiResponses } from './wire.ts'

const asked = { kind: 'generate' } as const
const read = (body: JsonObject) => openaiResponses.readRequest({ model: 'm', input: [], ...body }, asked)
const said = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const fn = (name: string) => ({ type: 'function', name, description: `${name}.`, strict: false, parameters: { type: 'object' } })

/** As Codex 0.166.0 sends it, shortened. */
const fromCodex: JsonObject = {
  model: 'gpt-5-codex',
  stream: true,
  input: [
    said('developer', 'You are a coding agent.'),
    said('user', '<environment_context/>'),
    said('user', 'do it'),
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'Hm.' },
        { type: 'summary_text', text: 'Yes.' },
      ],
      encrypted_content: 'gAAAA',
    },
    said('assistant', 'Running.'),
    { type: 'function_call', id: 'fc_1', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'call_1' },
    { type: 'function_call', name: 'spawn_agent', namespace: 'multi_agent_v1', arguments: '{}', call_id: 'call_2' },
    { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id: 'call_3' },
    { type: 'local_shell_call', call_id: 'call_4', action: { type: 'exec', command: ['ls'] } },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'a.txt' },
    {
      type: 'function_call_output',
      call_id: 'call_2',
      output: [{ type: 'input_image', image_url: 'data:image/png;base64,aW1n' }],
    },
    { type: 'custom_tool_call_output', call_id: 'call_3', output: 'Done' },
    { type: 'local_shell_call_output', call_id: 'call_4', output: { content: 'a.txt', success: false } },
    said('developer', 'Mode changed.'),
  ],
  tools: [
    fn('exec_command'),
    { type: 'namespace', name: 'multi_agent_v1', tools: [fn('spawn_agent')] },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
    },
    { type: 'local_shell' },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'xhigh', summary: 'auto' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'key',
  text: {
    verbosity: 'low',
    format: { type: 'json_schema', name: 'shape', strict: true, schema: { type: 'object', properties: {} } },
  },
  client_metadata: {},
}

test('a request of Codex is read whole', () => {
  const request = openaiResponses.readRequest(fromCodex, asked)
  expect(request.messages).toEqual([
    {
      role: 'user',
      parts: [
        { kind: 'text', text: '<environment_context/>' },
        { kind: 'text', text: 'do it' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'thinking', text: 'Hm.\n\nYes.', seal: 'openai-responses:rs_1 gAAAA' },
        { kind: 'text', text: 'Running.' },
        { kind: 'tool_call', id: 'call_1', name: 'exec_command', input: { cmd: 'ls' } },
        { kind: 'tool_call', id: 'call_2', name: 'multi_agent_v1__spawn_agent', input: {} },
        { kind: 'tool_call', id: 'call_3', name: 'apply_patch', input: { input: '*** Begin Patch' } },
        { kind: 'tool_call', id: 'call_4', name: 'local_shell', input: { command: ['ls'] } },
      ],
    },
    {
      role: 'user',
      parts: [
        { kind: 'tool_result', callId: 'call_1', parts: [{ kind: 'text', text: 'a.txt' }], isError: false },
        {
          kind: 'tool_result',
          callId: 'call_2',
          parts: [{ kind: 'image', mediaType: 'image/png', data: 'aW1n' }],
          isError: false,
        },
        { kind: 'tool_result', callId: 'call_3', parts: [{ kind: 'text', text: 'Done' }], isError: false },
        { kind: 'tool_result', callId: 'call_4', parts: [{ kind: 'text', text: 'a.txt' }], isError: true },
        { kind: 'text', text: '<system-reminder>\nMode changed.\n</system-reminder>' },
      ],
    },
  ])
  expect(request.tools).toMatchObject([
    { name: 'exec_command', description: 'exec_command.', schema: { type: 'object' } },
    { name: 'multi_agent_v1__spawn_agent', group: 'multi_agent_v1' },
    { name: 'apply_patch', form: 'text', grammar: { syntax: 'lark' }, schema: { required: ['input'] } },
    { name: 'local_shell', form: 'shell', schema: { required: ['command'] } },
  ])
  expect(request).toMatchObject({
    system: [{ kind: 'text', text: 'You are a coding agent.' }],
    thinking: { effort: 'high' },
    outputSchema: { name: 'shape', schema: { type: 'object', properties: {} } },
    streams: true,
  })
})

test('tools that are offered in the conversation are offered', () => {
  const custom = {
    type: 'custom',
    name: 'exec',
    description: 'Runs code.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
  }
  const { tools } = read({
    input: [
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'functions', tools: [custom] }] },
      said('user', 'Go'),
    ],
  })
  expect(tools).toMatchObject([{ name: 'functions__exec', group: 'functions', form: 'text' }])
})

test('what only OpenAI keeps or runs is refused with its name', () => {
  expect(() => read({ previous_response_id: 'resp_1' })).toThrow('"previous_response_id"')
  expect(() => read({ input: [{ type: 'item_reference', id: 'x' }] })).toThrow('an item of the type "item_reference"')
  expect(() => read({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', file_id: 'x' }] }] })).toThrow(
    '"input_file"',
  )
  expect(() => read({ tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } })).toThrow(
    'The tool "web_search" is run by OpenAI',
  )
})

/** The items that a client gets, with the events in which they came. */
function streamed(events: readonly ModelEvent[], request: ModelRequest) {
  const writer = openaiResponses.answerStream(request)
  const text = events.map((event) => writer.write(event)).join('') + writer.end()
  const bodies = createFrameSplitter('sse')
    .push(Buffer.from(text))
    .map(({ data }) => JSON.parse(data) as JsonObject)
  return {
    types: bodies.map(({ type }) => type),
    items: bodies.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item),
  }
}

test('calls come back in the form in which their tools were offered', () => {
  const request = openaiResponses.readRequest(fromCodex, asked)
  const call = (index: number, name: string, json: string): ModelEvent[] => [
    { type: 'tool_call', index, id: `c${index}`, name },
    { type: 'tool_input', index, json: json.slice(0, 5) },
    { type: 'tool_input', index, json: json.slice(5) },
  ]
  const { items, types } = streamed(
    [
      { type: 'start', id: 'msg_1', model: 'claude' },
      ...call(0, 'apply_patch', '{"input":"*** Begin Patch\\n"}'),
      ...call(1, 'multi_agent_v1__spawn_agent', '{"a": 1}'),
      ...call(2, 'local_shell', '{"command":["ls"]}'),
      ...call(3, 'apply_patch', '{"patch":"*** Other name"}'),
      { type: 'end', reason: 'tool_calls' },
    ],
    request,
  )
  expect(items).toMatchObject([
    { type: 'custom_tool_call', call_id: 'c0', name: 'apply_patch', input: '*** Begin Patch\n' },
    { type: 'function_call', call_id: 'c1', name: 'spawn_agent', namespace: 'multi_agent_v1', arguments: '{"a": 1}' },
    { type: 'local_shell_call', call_id: 'c2', action: { type: 'exec', command: ['ls'] } },
    { type: 'custom_tool_call', call_id: 'c3', input: '*** Other name' },
  ])
  expect(types).toContain('response.custom_tool_call_input.delta')
  expect(types.at(-1)).toBe('response.completed')
})

test('an answer that was cut short says why', () => {
  const request = read({})
  const whole = (reason: 'max_tokens' | 'refused') =>
    openaiResponses.answerWhole({ id: 'r', model: 'm', parts: [], reason }, request)
  expect(whole('max_tokens')).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  expect(whole('refused')).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  const { types } = streamed(
    [
      { type: 'start', id: 'r', model: 'm' },
      { type: 'end', reason: 'max_tokens' },
    ],
    request,
  )
  expect(types).toEqual(['response.created', 'response.in_progress', 'response.incomplete'])
})

test('a request for OpenAI keeps nothing there and brings its own sealed thoughts', () => {
  const { path, body } = openaiResponses.writeRequest(
    {
      ...read({
        tools: [
          {
            type: 'custom',
            name: 'patch',
            description: 'Edits.',
            format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
          },
        ],
      }),
      system: [
        { kind: 'text', text: 'Be' },
        { kind: 'text', text: 'kind.' },
      ],
      messages: [
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'Look' },
            { kind: 'image', mediaType: 'image/png', data: 'aW1n' },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { kind: 'thinking', text: 'Hm.', seal: 'openai-responses:rs_1 gAAAA' },
            { kind: 'thinking', text: 'foreign', seal: 'anthropic:x' },
            { kind: 'text', text: 'Well.' },
            { kind: 'tool_call', id: 'c1', name: 'a', input: { x: 1 } },
          ],
        },
        { role: 'user', parts: [{ kind: 'tool_result', callId: 'c1', parts: [{ kind: 'text', text: 'ok' }], isError: false }] },
      ],
      thinking: { budgetTokens: 1024 },
      temperature: 0.5,
      maxOutputTokens: 100,
      parallelTools: false,
      toolChoice: { name: 'patch' },
      streams: true,
    },
    'gpt-5.1',
  )
  expect(path).toBe('/responses')
  expect(body).toMatchObject({
    model: 'gpt-5.1',
    instructions: 'Be\n\nkind.',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'data:image/png;base64,aW1n' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Well.' }] },
      { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
    ],
    tools: [{ type: 'function', name: 'patch', description: expect.stringContaining('lark grammar:\nstart: x') }],
    tool_choice: { type: 'function', name: 'patch' },
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    max_output_tokens: 100,
    store: false,
    include: ['reasoning.encrypted_content'],
    stream: true,
  })
  expect(body).not.toHaveProperty('temperature')
})

test('an answer whose items come whole, without pieces, is read', () => {
  const reader = openaiResponses.answerReader()
  const frame = (body: JsonObject) => reader.read({ data: JSON.stringify(body) })
  const done = (output_index: number, item: JsonObject) => frame({ type: 'response.output_item.done', output_index, item })
  expect(frame({ type: 'response.created', response: { id: 'r', model: 'm' } })).toHaveLength(1)
  expect(
    done(0, { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'g' }),
  ).toEqual([
    { type: 'thinking', text: 'Hm.' },
    { type: 'thinking_seal', seal: 'openai-responses:rs g' },
  ])
  expect(done(1, said('assistant', 'Hello'))).toEqual([{ type: 'text', text: 'Hello' }])
  expect(done(2, { type: 'function_call', call_id: 'c', name: 'a', arguments: '{"x":1}' })).toEqual([
    { type: 'tool_call', index: 0, id: 'c', name: 'a' },
    { type: 'tool_input', index: 0, json: '{"x":1}' },
  ])
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 60 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
  }
  const searched = [{ type: 'web_search_call' }]
  expect(frame({ type: 'response.completed', response: { id: 'r', status: 'completed', output: searched, usage } })).toEqual([
    {
      type: 'usage',
      usage: {
        inputTokens: 40,
        outputTokens: 20,
        cacheReadTokens: 60,
        cacheWriteTokens: 0,
        reasoningTokens: 5,
        pieces: { web_search_requests: 1 },
      },
    },
    { type: 'end', reason: 'tool_calls' },
  ])
  expect(reader.end()).toEqual([])
})

const now = new Date('2026-11-15T12:00:00Z')
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const refused = (status: number, error: JsonObject, headers = {}) =>
  openaiResponses.refused({ status, headers, text: JSON.stringify({ error }) }, now)

test('limits are read with the time at which they end', () => {
  const resets = Math.floor(inSeconds(7200).getTime() / 1000)
  expect(refused(429, { type: 'usage_limit_reached', message: 'Over.', resets_at: resets })).toEqual({
    kind: 'usage_limit',
    message: 'Over.',
    retryAt: inSeconds(7200),
  })
  expect(refused(429, { type: 'usage_limit_reached', message: 'Over.', resets_in_seconds: 60 })).toMatchObject({
    retryAt: inSeconds(60),
  })
  const codex = {
    'x-codex-primary-used-percent': '100',
    'x-codex-primary-reset-after-seconds': '90',
    'x-codex-secondary-used-percent': '40',
  }
  expect(refused(429, { type: 'usage_limit_reached', message: 'Over.' }, codex)).toMatchObject({
    kind: 'usage_limit',
    retryAt: inSeconds(90),
  })
  const minute = {
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '6m0s',
    'x-ratelimit-remaining-tokens': '9',
  }
  expect(refused(429, { code: 'rate_limit_exceeded', message: 'Slow.' }, minute)).toMatchObject({
    kind: 'rate_limited',
    retryAt: inSeconds(360),
  })
  const words = 'Rate limit reached for m. Please try again in 1m3.5s.'
  expect(refused(429, { code: 'rate_limit_exceeded', message: words })).toMatchObject({ retryAt: inSeconds(63.5) })
  expect(refused(429, { message: 'Slow.' }, { 'retry-after-ms': '250', 'retry-after': '1' })).toMatchObject({
    retryAt: inSeconds(0.25),
  })
  expect(refused(429, { type: 'insufficient_quota', message: 'You exceeded your current quota' }).kind).toBe('usage_limit')
  expect(refused(400, { code: 'context_length_exceeded', message: 'Too long.' }).kind).toBe('context_overflow')
  expect(refused(503, { code: 'server_is_overloaded', message: 'Busy.' }).kind).toBe('overloaded')
})

test('others than OpenAI are understood too', () => {
  const other = (status: number, body: unknown) =>
    openaiResponses.refused({ status, headers: {}, text: JSON.stringify(body) }, now)
  const vllm = { object: 'error', message: "This model's maximum context length is 4096 tokens.", code: 400 }
  expect(other(400, vllm)).toEqual({ kind: 'context_overflow', message: vllm.message })
  expect(other(402, { error: { message: 'Insufficient Balance' } }).kind).toBe('usage_limit')
  expect(other(404, { error: 'no such model' })).toEqual({ kind: 'not_found', message: 'no such model' })
  expect(other(422, { detail: 'bad field' })).toEqual({ kind: 'invalid', message: 'bad field' })
})
