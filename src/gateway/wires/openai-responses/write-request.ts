import { effortOf } from '../effort.ts'
import { imageUrl, present } from '../fields.ts'
import type { ImagePart, JsonObject, Message, ModelRequest, Part, TextPart, Tool } from '../model-request.ts'
import { isAnyObject, parametersOf, takesEffort } from '../openai/models.ts'
import { describedTool } from '../tool-words.ts'
import { providerSeal } from './items.ts'

export function writeRequest(request: ModelRequest, target: string): { path: string; body: JsonObject } {
  const thinks = takesEffort(target)
  const body = {
    model: target,
    instructions: request.system.length > 0 ? request.system.map(({ text }) => text).join('\n\n') : undefined,
    input: request.messages.flatMap(itemsOf),
    tools: request.tools.length > 0 ? request.tools.map(toolOf) : undefined,
    tool_choice: choiceOf(request),
    parallel_tool_calls: request.tools.length > 0 && !request.parallelTools ? false : undefined,
    max_output_tokens: request.maxOutputTokens,
    // Models that think take no other than their own.
    temperature: thinks ? undefined : request.temperature,
    top_p: thinks ? undefined : request.topP,
    reasoning: thinks && request.thinking ? { effort: effortOf(request.thinking), summary: 'auto' } : undefined,
    text: formatOf(request),
    // Nothing is kept there, so the thoughts come back with the conversation, sealed.
    store: false,
    include: thinks ? ['reasoning.encrypted_content'] : undefined,
    stream: request.streams ? true : undefined,
  }
  return { path: '/responses', body: present(body) }
}

function itemsOf({ role, parts }: Message): JsonObject[] {
  const items: JsonObject[] = []
  let content: JsonObject[] = []
  const flush = () => {
    if (content.length > 0) items.push({ type: 'message', role, content })
    content = []
  }
  for (const part of parts) {
    if (part.kind === 'text' && part.text !== '')
      content.push({ type: role === 'assistant' ? 'output_text' : 'input_text', text: part.text })
    else if (part.kind === 'image') content.push(imageBlock(part))
    else {
      flush()
      items.push(...itemOf(part))
    }
  }
  flush()
  return items
}

function itemOf(part: Part): JsonObject[] {
  if (part.kind === 'thinking') {
    const sealed = providerSeal(part.seal)
    return sealed
      ? [{ type: 'reasoning', ...sealed, summary: part.text === '' ? [] : [{ type: 'summary_text', text: part.text }] }]
      : []
  }
  if (part.kind === 'tool_call')
    return [{ type: 'function_call', call_id: part.id, name: part.name, arguments: JSON.stringify(part.input) }]
  if (part.kind === 'tool_result') return [{ type: 'function_call_output', call_id: part.callId, output: outputOf(part.parts) }]
  return []
}

function outputOf(parts: readonly (TextPart | ImagePart)[]): string | JsonObject[] {
  if (parts.every((part) => part.kind === 'text')) return parts.map(({ text }) => text).join('\n')
  return parts.map((part) => (part.kind === 'text' ? { type: 'input_text', text: part.text } : imageBlock(part)))
}

const imageBlock = (image: ImagePart) => ({ type: 'input_image', image_url: imageUrl(image), detail: 'auto' })

const toolOf = (tool: Tool) =>
  present({
    type: 'function',
    name: tool.name,
    description: describedTool(tool),
    parameters: parametersOf(tool.schema),
    strict: false,
  })

function choiceOf({ toolChoice, tools }: ModelRequest): unknown {
  if (tools.length === 0 || toolChoice === 'auto') return undefined
  if (toolChoice === 'any') return 'required'
  return toolChoice === 'none' ? 'none' : { type: 'function', name: toolChoice.name }
}

function formatOf({ outputSchema }: ModelRequest): JsonObject | undefined {
  if (!outputSchema) return undefined
  const { name, schema } = outputSchema
  return { format: isAnyObject(schema) ? { type: 'json_object' } : { type: 'json_schema', name, schema, strict: false } }
}
