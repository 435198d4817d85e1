import { present } from '../fields.ts'
import type { JsonObject, Message, ModelRequest, Part, TextPart, Tool, ToolChoice } from '../model-request.ts'
import { sealAhead, sealForClient, sealForProvider } from '../seal.ts'
import { describedTool } from '../tool-words.ts'
import { redactedMark } from './read-request.ts'

export function writeRequest(request: ModelRequest, target: string): { path: string; body: JsonObject } {
  const messages = request.messages.map(messageOf).filter((message) => message.content.length > 0)
  const thinking = thinkingOf(request, target, messages)
  const thinks = thinking.thinking !== undefined
  const body = {
    model: target,
    max_tokens: request.maxOutputTokens ?? defaultMaxTokens,
    system: request.system.length > 0 ? request.system.map(textBlock) : undefined,
    messages,
    tools: request.tools.length > 0 ? request.tools.map(toolOf) : undefined,
    tool_choice: choiceOf(request),
    // A model that thinks takes no other temperature than its own.
    temperature: thinks ? undefined : clamp(request.temperature),
    top_p: thinks || request.temperature !== undefined ? undefined : request.topP,
    top_k: thinks ? undefined : request.topK,
    stop_sequences: request.stop.length > 0 ? request.stop : undefined,
    ...thinking,
    output_config: outputConfig(request, thinking.output_config),
    stream: request.streams ? true : undefined,
  }
  return { path: '/v1/messages', body: present(withCacheMarks(body, request)) }
}

/** The least that the larger models of the last years may write in one answer; the format wants a number. */
const defaultMaxTokens = 32_000
const clamp = (temperature: number | undefined) => (temperature === undefined ? undefined : Math.min(1, temperature))

type Block = { type: string; [key: string]: unknown }

function messageOf({ role, parts }: Message): { role: string; content: Block[] } {
  // Results must come first in the message that follows their calls.
  const ordered =
    role === 'user' ? [...parts].sort((a, b) => Number(b.kind === 'tool_result') - Number(a.kind === 'tool_result')) : parts
  return { role, content: ordered.flatMap(blocksOf) }
}

const textBlock = ({ text, isCacheMark }: TextPart): Block =>
  isCacheMark ? { type: 'text', text, cache_control: { type: 'ephemeral' } } : { type: 'text', text }

export function blocksOf(part: Part): Block[] {
  switch (part.kind) {
    case 'text':
      // An empty text, or one of blanks at the end, is refused.
      return part.text.trim() === '' ? [] : [textBlock(part)]
    case 'image':
      return [imageBlock(part)]
    case 'thinking':
      return thinkingBlocks(part.text, sealForProvider('anthropic', part.seal))
    case 'tool_call':
      return [{ type: 'tool_use', id: callId(part.id), name: part.name, input: part.input }]
    case 'tool_result': {
      const content = part.parts.map((inner) => (inner.kind === 'text' ? textBlock(inner) : imageBlock(inner)))
      return [
        present({ type: 'tool_result', tool_use_id: callId(part.callId), content, is_error: part.isError ? true : undefined }),
      ]
    }
  }
}

/** Ids of other makers may hold characters that are refused here. */
const callId = (id: string) => (/^[\w-]+$/.test(id) ? id : `call_${Buffer.from(id).toString('base64url')}`)

const imageBlock = (image: { mediaType: string; data?: string | undefined; url?: string | undefined }): Block => ({
  type: 'image',
  source:
    image.data === undefined
      ? { type: 'url', url: image.url ?? '' }
      : { type: 'base64', media_type: image.mediaType, data: image.data },
})

/** A thought without the provider's own signature is refused; the model does without it. */
function thinkingBlocks(text: string, seal: string | undefined): Block[] {
  if (seal === undefined) return []
  if (seal.startsWith(redactedMark)) return [{ type: 'redacted_thinking', data: seal.slice(redactedMark.length) }]
  return [{ type: 'thinking', thinking: text, signature: seal }]
}

const toolOf = (tool: Tool) =>
  present({
    name: tool.name,
    description: describedTool(tool),
    input_schema: tool.schema.type === undefined ? { type: 'object', ...tool.schema } : tool.schema,
  })

function choiceOf({ toolChoice, parallelTools, tools }: ModelRequest): JsonObject | undefined {
  if (tools.length === 0) return undefined
  const choice = choices(toolChoice)
  if (parallelTools || choice.type === 'none') return toolChoice === 'auto' ? undefined : choice
  return { ...choice, disable_parallel_tool_use: true }
}
const choices = (choice: ToolChoice): JsonObject =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name }

/** Models up to Claude 4.5, and those of other makers behind this format, take a budget; later ones decide by themselves, guided by an effort. */
const takesBudget = (target: string) =>
  !/claude/.test(target) || /claude-(\d|instant|[a-z]+-4(-[015])?(-2025\d{4}|@|$))/.test(target)
const budgets = { minimal: 1024, low: 2048, medium: 8192, high: 24_576 } as const
const leastBudget = 1024
const cannotThink = (target: string) => /claude-(2|instant|3-(5|opus|sonnet|haiku))/.test(target)

interface ThinkingFields {
  readonly thinking?: JsonObject
  readonly output_config?: JsonObject
}

function thinkingOf(
  request: ModelRequest,
  target: string,
  messages: readonly { role: string; content: Block[] }[],
): ThinkingFields {
  const { thinking, toolChoice } = request
  const isForced = toolChoice === 'any' || typeof toolChoice === 'object'
  if (!thinking || isForced || cannotThink(target)) return {}
  if (!takesBudget(target))
    return {
      thinking: { type: 'adaptive' },
      ...(thinking.effort && { output_config: { effort: thinking.effort === 'minimal' ? 'low' : thinking.effort } }),
    }
  if (!mayThink(messages)) return {}
  const most = (request.maxOutputTokens ?? defaultMaxTokens) - 1
  const budget = Math.min(thinking.budgetTokens ?? budgets[thinking.effort ?? 'medium'], most)
  return budget < leastBudget ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** In the middle of a turn with tools, a model with a budget must be shown the thought with which the turn began; a foreign client may have lost it. */
function mayThink(messages: readonly { role: string; content: Block[] }[]): boolean {
  const isResult = (message: { role: string; content: Block[] } | undefined) =>
    message?.content.some((block) => block.type === 'tool_result') === true
  if (!isResult(messages.at(-1))) return true
  const called = messages.findLast((message) => message.role === 'assistant')
  const first = called?.content[0]?.type
  return first === 'thinking' || first === 'redacted_thinking'
}

function outputConfig({ outputSchema }: ModelRequest, config: JsonObject | undefined): JsonObject | undefined {
  if (!outputSchema || outputSchema.schema.properties === undefined) return config
  return { ...config, format: { type: 'json_schema', schema: outputSchema.schema } }
}

/** Other formats keep a conversation by themselves; here it must be asked for, or every turn is paid in full. */
function withCacheMarks(
  body: JsonObject & { messages: { content: Block[] }[]; system?: Block[] | undefined },
  request: ModelRequest,
) {
  const isMarked = [...request.system, ...request.messages.flatMap(({ parts }) => parts)].some(
    (part) => part.kind === 'text' && part.isCacheMark,
  )
  if (isMarked) return body
  for (const block of [body.system?.at(-1), body.messages.at(-1)?.content.at(-1)])
    if (block && block.type !== 'thinking' && block.type !== 'redacted_thinking') block.cache_control = { type: 'ephemeral' }
  return body
}

/** The blocks that a client is given for a part of an answer. */
export function answerBlocks(part: Part): Block[] {
  if (part.kind === 'thinking') {
    const seal = part.seal === undefined ? '' : sealForClient('anthropic', part.seal)
    return part.text === '' && seal.startsWith(redactedMark)
      ? [{ type: 'redacted_thinking', data: seal.slice(redactedMark.length) }]
      : [{ type: 'thinking', thinking: part.text, signature: seal }]
  }
  if (part.kind === 'tool_call') {
    const ahead =
      part.seal === undefined
        ? []
        : [{ type: 'thinking', thinking: '', signature: sealForClient('anthropic', sealAhead(part.seal)) }]
    return [...ahead, { type: 'tool_use', id: part.id, name: part.name, input: part.input }]
  }
  return part.kind === 'text' ? [{ type: 'text', text: part.text }] : blocksOf(part)
}
