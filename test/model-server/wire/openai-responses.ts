import { normalTurns, type OfferedTool, type Turn } from '../conversation.ts'
import { epochSeconds, pieces, type Reply, sealOf, type ToolCall, type Usage } from '../reply.ts'
import { openaiRefusal } from './openai-error.ts'
import { asList, asRecord, asText, type Body, dataOfUrl, found, sse, textOf, type Wire } from './wire.ts'

/** OpenAI Responses. */
export const openaiResponses: Wire = {
  name: 'openai-responses',
  streamType: 'text/event-stream',
  asksModel: (method, path) => method === 'POST' && path === '/v1/responses',

  read: (body) => ({
    model: asText(body.model),
    stream: body.stream === true,
    system: asText(body.instructions),
    turns: normalTurns(
      typeof body.input === 'string' ? [{ role: 'user', text: body.input }] : asList(body.input).flatMap(turnsOf),
    ),
    tools: asList(body.tools).flatMap(toolsOf),
    images: found(body.input, (part) => dataOfUrl(part.image_url)),
    seals: found(body.input, (item) => item.encrypted_content),
  }),

  whole: (reply) => response(reply, 'completed'),

  *frames(reply) {
    let sequence = 0
    const event = (type: string, data: Body) => sse({ type, sequence_number: sequence++, ...data }, type)
    yield event('response.created', { response: response(reply, 'in_progress') })
    yield event('response.in_progress', { response: response(reply, 'in_progress') })
    let index = 0
    if (reply.thinking) {
      const item = reasoning(reply)
      const at = { item_id: item.id, output_index: index, summary_index: 0 }
      yield event('response.output_item.added', { output_index: index, item: { ...item, summary: [], encrypted_content: null } })
      yield event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } })
      for (const delta of pieces(reply.thinking)) yield event('response.reasoning_summary_text.delta', { ...at, delta })
      yield event('response.reasoning_summary_text.done', { ...at, text: reply.thinking })
      yield event('response.reasoning_summary_part.done', { ...at, part: item.summary[0] })
      yield event('response.output_item.done', { output_index: index, item })
      index += 1
    }
    if (reply.text) {
      const at = { item_id: messageId(reply), output_index: index, content_index: 0 }
      const part = { type: 'output_text', text: reply.text, annotations: [] }
      yield event('response.output_item.added', {
        output_index: index,
        item: { ...message(reply), status: 'in_progress', content: [] },
      })
      yield event('response.content_part.added', { ...at, part: { ...part, text: '' } })
      for (const delta of pieces(reply.text)) yield event('response.output_text.delta', { ...at, delta })
      yield event('response.output_text.done', { ...at, text: reply.text })
      yield event('response.content_part.done', { ...at, part })
      yield event('response.output_item.done', { output_index: index, item: message(reply) })
      index += 1
    }
    for (const item of reply.calls.map(callItem)) {
      yield event('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress' } })
      yield event('response.output_item.done', { output_index: index, item })
      index += 1
    }
    yield event('response.completed', { response: response(reply, 'completed') })
  },

  refusal: openaiRefusal,
  refusalFrame(failure) {
    const { error } = asRecord(openaiRefusal(failure).body)
    return sse(
      { type: 'response.failed', response: { id: 'resp_failed', object: 'response', status: 'failed', error } },
      'response.failed',
    )
  },
}

function turnsOf(item: Body): Turn[] {
  switch (item.type ?? 'message') {
    case 'message':
      if (item.role === 'assistant') return [{ role: 'assistant', text: textOf(item.content) }]
      // One message may hold several texts of the program's own beside the prompt.
      if (item.role === 'user') return blocksOf(item.content).map((text) => ({ role: 'user', text }))
      return []
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return [{ role: 'assistant', text: '' }]
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return [{ role: 'tool', text: textOf(item.output) }]
    default:
      return []
  }
}

const blocksOf = (content: unknown) =>
  typeof content === 'string' ? [content] : asList(content).map((block) => asText(block.text))

function toolsOf(tool: Body): OfferedTool[] {
  if (tool.type === 'namespace') {
    const namespace = asText(tool.name)
    return asList(tool.tools).map((inner) => ({ name: asText(inner.name), namespace, kind: 'function' }))
  }
  if (tool.type === 'local_shell') return [{ name: 'local_shell', kind: 'local_shell' }]
  if (tool.type === 'custom') return [{ name: asText(tool.name), kind: 'freeform' }]
  return tool.type === 'function' ? [{ name: asText(tool.name), kind: 'function' }] : []
}

const messageId = (reply: Reply) => `msg_${reply.id}`

const message = (reply: Reply) => ({
  type: 'message',
  id: messageId(reply),
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: reply.text, annotations: [] }],
})

function callItem(call: ToolCall) {
  const shared = { id: `item_${call.id}`, call_id: call.id, status: 'completed' }
  if (call.kind === 'local_shell') return { type: 'local_shell_call', ...shared, action: { type: 'exec', ...call.args } }
  if (call.kind === 'freeform') return { type: 'custom_tool_call', ...shared, name: call.name, input: asText(call.args.input) }
  const namespace = call.namespace === undefined ? {} : { namespace: call.namespace }
  return { type: 'function_call', ...shared, name: call.name, ...namespace, arguments: JSON.stringify(call.args) }
}

const reasoning = (reply: Reply) => ({
  type: 'reasoning',
  id: `rs_${reply.id}`,
  summary: [{ type: 'summary_text', text: reply.thinking }],
  encrypted_content: sealOf(reply),
})

const items = (reply: Reply) => [
  ...(reply.thinking ? [reasoning(reply)] : []),
  ...(reply.text ? [message(reply)] : []),
  ...reply.calls.map(callItem),
]

const response = (reply: Reply, status: 'in_progress' | 'completed') => ({
  id: `resp_${reply.id}`,
  object: 'response',
  created_at: epochSeconds(reply.createdAt),
  status,
  model: reply.model,
  error: null,
  output: status === 'completed' ? items(reply) : [],
  usage: status === 'completed' ? usage(reply.usage) : null,
})

const usage = (count: Usage) => ({
  input_tokens: count.input,
  input_tokens_details: { cached_tokens: count.cacheRead },
  output_tokens: count.output,
  output_tokens_details: { reasoning_tokens: count.reasoning },
  total_tokens: count.input + count.output,
})
