import { effortOf } from '../effort.ts'
import { imageUrl, present } from '../fields.ts'
import type { ImagePart, JsonObject, Message, ModelRequest, Part, Tool, ToolCallPart } from '../model-request.ts'
import { isAnyObject, isOpenai, parametersOf, takesEffort } from '../openai/models.ts'
import { sealForClient, sealForProvider } from '../seal.ts'
import { describedTool } from '../tool-words.ts'

export function writeRequest(request: ModelRequest, target: string): { path: string; body: JsonObject } {
  const thinks = request.thinking !== undefined && takesEffort(target)
  const body = {
    model: target,
    messages: [...systemOf(request), ...request.messages.flatMap(messagesOf)],
    tools: request.tools.length > 0 ? request.tools.map(toolOf) : undefined,
    tool_choice: choiceOf(request),
    parallel_tool_calls: request.tools.length > 0 && !request.parallelTools ? false : undefined,
    // OpenAI's newer models refuse the old name, and the servers of others know only that.
    [isOpenai(target) ? 'max_completion_tokens' : 'max_tokens']: request.maxOutputTokens,
    // OpenAI's models that think take no other than their own.
    temperature: takesEffort(target) && isOpenai(target) ? undefined : request.temperature,
    top_p: takesEffort(target) && isOpenai(target) ? undefined : request.topP,
    stop: request.stop.length > 0 && !(takesEffort(target) && isOpenai(target)) ? request.stop.slice(0, 4) : undefined,
    reasoning_effort: thinks && request.thinking ? effortOf(request.thinking) : undefined,
    response_format: formatOf(request),
    stream: request.streams ? true : undefined,
    stream_options: request.streams ? { include_usage: true } : undefined,
  }
  return { path: '/chat/completions', body: present(body) }
}

const systemOf = ({ system }: ModelRequest) =>
  system.length === 0 ? [] : [{ role: 'system', content: system.map(({ text }) => text).join('\n\n') }]

function messagesOf({ role, parts }: Message): JsonObject[] {
  return role === 'assistant' ? answered(parts) : told(parts)
}

function answered(parts: readonly Part[]): JsonObject[] {
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const calls = parts.filter((part) => part.kind === 'tool_call')
  const thoughts = parts
    .filter((part) => part.kind === 'thinking')
    .filter(({ seal }) => seal === undefined || sealForProvider('openai-chat', seal) !== undefined)
  const reasoning = thoughts.map((part) => part.text).join('')
  if (text === '' && calls.length === 0) return []
  return [
    present({
      role: 'assistant',
      content: text === '' ? null : text,
      tool_calls: calls.length > 0 ? calls.map(writtenCall) : undefined,
      // Only models that told their thoughts in the open want them back; what is sealed belongs to another.
      reasoning_content: reasoning === '' ? undefined : reasoning,
      reasoning_details: detailsOf(thoughts.findLast(({ seal }) => seal !== undefined)?.seal),
    }),
  ]
}

const writtenCall = (call: ToolCallPart) => {
  const own = sealForProvider('openai-chat', call.seal)
  return { ...callFields(call), ...(own !== undefined && { extra_content: { google: { thought_signature: own } } }) }
}

export const callFields = ({ id, name, input }: Pick<ToolCallPart, 'id' | 'name' | 'input'>) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
})

export const detailsOf = (seal: string | undefined) =>
  seal === undefined ? undefined : [{ type: 'reasoning.encrypted', data: sealForClient('openai-chat', seal), index: 0 }]

/** A result can hold no image here, so its images follow in the user's name. */
function told(parts: readonly Part[]): JsonObject[] {
  const results: JsonObject[] = []
  const content: JsonObject[] = []
  for (const part of parts) {
    if (part.kind === 'tool_result') {
      const text = part.parts
        .map((inner) => (inner.kind === 'text' ? inner.text : ''))
        .filter(Boolean)
        .join('\n')
      const images = part.parts.filter((inner) => inner.kind === 'image')
      results.push({
        role: 'tool',
        tool_call_id: part.callId,
        content: text === '' && images.length > 0 ? 'The image follows.' : text,
      })
      content.push(...images.map(imageBlock))
    } else if (part.kind === 'text') content.push({ type: 'text', text: part.text })
    else if (part.kind === 'image') content.push(imageBlock(part))
  }
  if (content.length === 0) return results
  const [first] = content
  return [...results, { role: 'user', content: content.length === 1 && first?.type === 'text' ? first.text : content }]
}

const imageBlock = (image: ImagePart) => ({ type: 'image_url', image_url: { url: imageUrl(image) } })

const toolOf = (tool: Tool) => ({
  type: 'function',
  function: present({ name: tool.name, description: describedTool(tool), parameters: parametersOf(tool.schema) }),
})

function choiceOf({ toolChoice, tools }: ModelRequest): unknown {
  if (tools.length === 0 || toolChoice === 'auto') return undefined
  if (toolChoice === 'any') return 'required'
  return toolChoice === 'none' ? 'none' : { type: 'function', function: { name: toolChoice.name } }
}

function formatOf({ outputSchema }: ModelRequest): JsonObject | undefined {
  if (!outputSchema) return undefined
  const { name, schema } = outputSchema
  return isAnyObject(schema) ? { type: 'json_object' } : { type: 'json_schema', json_schema: { name, schema } }
}
