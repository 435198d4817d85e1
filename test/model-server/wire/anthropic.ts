import { normalTurns, type Turn } from '../conversation.ts'
import {
  epochSeconds,
  type Failure,
  type FailureKind,
  failureHeaders,
  pieces,
  type Refusal,
  type Reply,
  sealOf,
  type Usage,
} from '../reply.ts'
import { asList, asRecord, asText, type Body, found, scriptedModels, sse, textOf, type Wire } from './wire.ts'

/** Anthropic Messages. */
export const anthropic: Wire = {
  name: 'anthropic',
  streamType: 'text/event-stream',
  asksModel: (method, path) => method === 'POST' && path === '/v1/messages',

  read: (body) => ({
    model: asText(body.model),
    stream: body.stream === true,
    system: textOf(body.system),
    turns: normalTurns(asList(body.messages).flatMap(turnsOf)),
    tools: asList(body.tools).map((tool) => ({ name: asText(tool.name), kind: 'function' })),
    images: found(body.messages, (source) => (source.type === 'base64' ? source.data : undefined)),
    seals: found(body.messages, (block) => (block.type === 'thinking' ? block.signature : undefined)),
  }),

  whole: (reply) => ({ ...envelope(reply), content: blocks(reply), ...ending(reply), usage: usage(reply.usage) }),

  *frames(reply) {
    const started = { ...envelope(reply), content: [], stop_reason: null, stop_sequence: null }
    yield event('message_start', { message: { ...started, usage: { ...usage(reply.usage), output_tokens: 1 } } })
    yield event('ping', {})
    let index = 0
    if (reply.thinking) {
      yield event('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } })
      for (const thinking of pieces(reply.thinking)) {
        yield event('content_block_delta', { index, delta: { type: 'thinking_delta', thinking } })
      }
      yield event('content_block_delta', { index, delta: { type: 'signature_delta', signature: sealOf(reply) } })
      yield event('content_block_stop', { index })
      index += 1
    }
    if (reply.text) {
      yield event('content_block_start', { index, content_block: { type: 'text', text: '' } })
      for (const text of pieces(reply.text)) yield event('content_block_delta', { index, delta: { type: 'text_delta', text } })
      yield event('content_block_stop', { index })
      index += 1
    }
    for (const { id, name, args } of reply.calls) {
      yield event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } })
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(args) }
      yield event('content_block_delta', { index, delta })
      yield event('content_block_stop', { index })
      index += 1
    }
    yield event('message_delta', { delta: ending(reply), usage: { output_tokens: reply.usage.output } })
    yield event('message_stop', {})
  },

  refusal,
  refusalFrame: (failure) => sse(refusal(failure).body, 'error'),

  aside({ method, path, body }) {
    if (path === '/api/hello' && (method === 'HEAD' || method === 'GET')) return {}
    if (method === 'POST' && path === '/v1/messages/count_tokens')
      return { input_tokens: Math.ceil(JSON.stringify(body).length / 4) }
    if (method === 'GET' && path === '/v1/models') {
      const data = scriptedModels.map((id) => ({
        type: 'model',
        object: 'model',
        id,
        display_name: id,
        created_at: '2026-01-01T00:00:00Z',
      }))
      return { object: 'list', data, models: [], has_more: false, first_id: scriptedModels[0], last_id: scriptedModels.at(-1) }
    }
  },
}

function turnsOf(message: Body): Turn[] {
  const content = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : asList(message.content)
  return content.flatMap((block): Turn[] => {
    if (message.role === 'assistant') return [{ role: 'assistant', text: asText(asRecord(block).text) }]
    if (block.type === 'tool_result') return [{ role: 'tool', text: withoutReminders(textOf(asRecord(block).content)) }]
    return [{ role: 'user', text: textOf([block]) }]
  })
}

// Claude Code appends reminders of its own to the text of a tool result.
const withoutReminders = (text: string) => text.replace(/\n*<system-reminder>[\s\S]*?<\/system-reminder>\n*/g, '')

const event = (type: string, data: Body) => sse({ type, ...data }, type)
const envelope = (reply: Reply) => ({ id: `msg_${reply.id}`, type: 'message', role: 'assistant', model: reply.model })
const ending = (reply: Reply) => ({ stop_reason: reply.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null })

const blocks = (reply: Reply) => [
  ...(reply.thinking ? [{ type: 'thinking', thinking: reply.thinking, signature: sealOf(reply) }] : []),
  ...(reply.text ? [{ type: 'text', text: reply.text }] : []),
  ...reply.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
]

const usage = (count: Usage) => ({
  input_tokens: count.input - count.cacheRead - count.cacheWrite,
  cache_read_input_tokens: count.cacheRead,
  cache_creation_input_tokens: count.cacheWrite,
  output_tokens: count.output,
})

const refusals: Record<FailureKind, [status: number, type: string, message: string]> = {
  'rate-limit': [429, 'rate_limit_error', 'Number of requests has exceeded your per-minute rate limit.'],
  'usage-limit': [429, 'rate_limit_error', "This request would exceed your account's rate limit. Please try again later."],
  auth: [401, 'authentication_error', 'invalid x-api-key'],
  forbidden: [403, 'permission_error', 'Your API key does not have permission to use the specified resource.'],
  'not-found': [404, 'not_found_error', 'model: scripted-model'],
  'context-overflow': [400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'],
  credit: [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
  ],
  'server-error': [500, 'api_error', 'Internal server error'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
}

function refusal(failure: Failure): Refusal {
  const [status, type, message] = refusals[failure.kind]
  return {
    status: failure.status ?? status,
    headers: { ...limitHeaders(failure), ...failureHeaders(failure) },
    body: {
      type: 'error',
      error: { type: failure.type ?? type, message: failure.message ?? message },
      request_id: 'req_scripted',
    },
  }
}

/** Claude Code tells a used-up subscription from a passing throttle by these headers, not by the body. */
function limitHeaders(failure: Failure): Record<string, string> {
  if (failure.kind !== 'usage-limit' || !failure.resetsAt) return {}
  const reset = String(epochSeconds(failure.resetsAt))
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': reset,
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-5h-status': 'rejected',
    'anthropic-ratelimit-unified-5h-reset': reset,
    'anthropic-ratelimit-unified-5h-utilization': '1.0',
    'anthropic-ratelimit-unified-overage-status': 'rejected',
  }
}
