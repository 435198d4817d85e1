import { normalTurns, type Turn } from '../conversation.ts'
import { epochSeconds, pieces, type Reply, type ToolCall, type Usage } from '../reply.ts'
import { openaiRefusal } from './openai-error.ts'
import { asList, asRecord, asText, type Body, dataOfUrl, found, sse, textOf, type Wire } from './wire.ts'

/** OpenAI Chat Completions. */
export const openaiChat: Wire = {
  name: 'openai-chat',
  streamType: 'text/event-stream',
  asksModel: (method, path) => method === 'POST' && path === '/v1/chat/completions',

  read: (body) => ({
    model: asText(body.model),
    stream: body.stream === true,
    system: asList(body.messages)
      .filter((message) => message.role === 'system' || message.role === 'developer')
      .map((message) => textOf(message.content))
      .join('\n'),
    turns: normalTurns(asList(body.messages).flatMap(turnsOf)),
    tools: asList(body.tools).map((tool) => ({ name: asText(asRecord(tool.function).name), kind: 'function' })),
    images: found(body.messages, (part) => dataOfUrl(asRecord(part.image_url).url)),
    seals: [],
  }),

  whole: (reply) => ({
    ...envelope(reply, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text || null,
          ...(reply.thinking ? { reasoning_content: reply.thinking } : {}),
          ...(reply.calls.length > 0 ? { tool_calls: reply.calls.map(callOf) } : {}),
        },
        finish_reason: finish(reply),
      },
    ],
    usage: usage(reply.usage),
  }),

  *frames(reply) {
    const chunk = (delta: Body, finish_reason: string | null = null) =>
      sse({ ...envelope(reply, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }] })
    yield chunk({ role: 'assistant', content: '' })
    for (const reasoning_content of pieces(reply.thinking)) yield chunk({ reasoning_content })
    for (const content of pieces(reply.text)) yield chunk({ content })
    for (const [index, call] of reply.calls.entries()) yield chunk({ tool_calls: [{ index, ...callOf(call) }] })
    yield chunk({}, finish(reply))
    yield sse({ ...envelope(reply, 'chat.completion.chunk'), choices: [], usage: usage(reply.usage) })
    yield 'data: [DONE]\n\n'
  },

  refusal: openaiRefusal,
  refusalFrame: (failure) => sse(openaiRefusal(failure).body),
}

function turnsOf(message: Body): Turn[] {
  const text = textOf(message.content)
  if (message.role === 'assistant') return [{ role: 'assistant', text }]
  if (message.role === 'tool') return [{ role: 'tool', text }]
  if (message.role !== 'user') return []
  // Some programs put reminders of their own beside the prompt, each in a block.
  return Array.isArray(message.content)
    ? asList(message.content).map((block) => ({ role: 'user', text: textOf([block]) }))
    : [{ role: 'user', text }]
}

const callOf = (call: ToolCall) => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: JSON.stringify(call.args) },
})

const finish = (reply: Reply) => (reply.calls.length > 0 ? 'tool_calls' : 'stop')

const envelope = (reply: Reply, object: string) => ({
  id: `chatcmpl-${reply.id}`,
  object,
  created: epochSeconds(reply.createdAt),
  model: reply.model,
})

const usage = (count: Usage) => ({
  prompt_tokens: count.input,
  completion_tokens: count.output,
  total_tokens: count.input + count.output,
  prompt_tokens_details: { cached_tokens: count.cacheRead },
  completion_tokens_details: { reasoning_tokens: count.reasoning },
})
