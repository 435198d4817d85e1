import { fieldsOf, isObject } from '../../../domain/base/object.ts'
import { PawlError } from '../../../domain/error.ts'
import { readEffort } from '../effort.ts'
import { imageOf, modelOf, numberOf, objectsOf, present, textOf } from '../fields.ts'
import type { ImagePart, JsonObject, ModelRequest, Part, TextPart, ToolChoice } from '../model-request.ts'
import { anyObject } from '../openai/models.ts'
import { asReminder, createTurns } from '../turns.ts'
import { callOf, isCall, thoughtOf } from './items.ts'
import { foundWords, isAddition, isFound, readTools } from './read-tools.ts'

/** What says only how the service is to keep and report things (`store`, `include`, `prompt_cache_key`, `client_metadata`) is left out. */
export function readRequest(body: JsonObject): ModelRequest {
  if (typeof body.previous_response_id === 'string')
    throw unsupported('"previous_response_id", an answer that only its maker keeps; send the whole conversation as "input"')
  const turns = createTurns()
  const system: TextPart[] = body.instructions ? [{ kind: 'text', text: textOf(body.instructions) ?? '' }] : []
  if (typeof body.input === 'string') turns.add('user', [{ kind: 'text', text: body.input }])
  for (const item of objectsOf(body.input)) {
    const type = item.type ?? 'message'
    if (type === 'message') {
      const parts = contentOf(item.content)
      if (item.role === 'user' || item.role === 'assistant') turns.add(item.role, parts)
      else if (turns.isEmpty) system.push(...parts.filter((part) => part.kind === 'text'))
      else
        turns.add(
          'user',
          parts.map((part) => (part.kind === 'text' ? asReminder(part.text) : part)),
        )
    } else if (type === 'reasoning') turns.add('assistant', [thoughtOf(item)])
    else if (isCall(item)) turns.add('assistant', [callOf(item)])
    else if (typeof type === 'string' && type.endsWith('_call_output')) turns.add('user', [resultOf(item)])
    else if (isFound(item)) {
      const callId = item.execution === 'client' ? textOf(item.call_id) : undefined
      const parts = [{ kind: 'text' as const, text: foundWords(item) }]
      if (callId !== undefined) turns.add('user', [{ kind: 'tool_result', callId, parts, isError: false }])
    } else if (type === 'agent_message') turns.add('user', contentOf(item.content))
    else if (!isServers(type) && !isAddition(item)) throw unsupported(`an item of the type "${String(type)}"`)
  }
  const { tools, choice } = readTools(body)
  return present({
    model: modelOf(body),
    system,
    messages: turns.messages(),
    tools,
    toolChoice: choice ?? choiceOf(body.tool_choice),
    parallelTools: body.parallel_tool_calls !== false,
    maxOutputTokens: numberOf(body.max_output_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    stop: [],
    thinking: thinkingOf(body.reasoning),
    outputSchema: schemaOf(fieldsOf(fieldsOf(body.text).format)),
    streams: body.stream === true,
  })
}

/** What the service's own tools did stands in its answers too. */
const isServers = (type: unknown) =>
  type === 'web_search_call' ||
  type === 'image_generation_call' ||
  type === 'file_search_call' ||
  type === 'code_interpreter_call' ||
  type === 'tool_search_call'

function contentOf(content: unknown): (TextPart | ImagePart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return objectsOf(content).flatMap((block): (TextPart | ImagePart)[] => {
    switch (block.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
      case 'refusal': {
        const text = textOf(block.text) ?? textOf(block.refusal) ?? ''
        return text === '' ? [] : [{ kind: 'text', text }]
      }
      case 'input_image': {
        const url = textOf(block.image_url) ?? textOf(fieldsOf(block.image_url).url)
        if (url === undefined) throw unsupported('an image that only its maker keeps ("file_id")')
        return [{ kind: 'image', ...imageOf(url) }]
      }
      default:
        throw unsupported(`a "${String(block.type)}" part`)
    }
  })
}

function resultOf(item: JsonObject): Part {
  const { output } = item
  const told = isObject(output) ? output : undefined
  return {
    kind: 'tool_result',
    callId: textOf(item.call_id) ?? textOf(item.id) ?? '',
    parts: contentOf(told ? (told.content ?? told.body ?? JSON.stringify(told)) : output),
    isError: told?.success === false || item.status === 'failed',
  }
}

function choiceOf(choice: unknown): ToolChoice {
  if (choice === 'none') return 'none'
  if (choice === 'required') return 'any'
  const { type, name, mode } = fieldsOf(choice)
  if (type === 'allowed_tools') return mode === 'required' ? 'any' : 'auto'
  return (type === 'function' || type === 'custom') && typeof name === 'string' ? { name } : 'auto'
}

function thinkingOf(reasoning: unknown): ModelRequest['thinking'] {
  if (!isObject(reasoning) || reasoning.effort === 'none') return undefined
  return present({ effort: readEffort(reasoning.effort) })
}

function schemaOf(format: JsonObject): ModelRequest['outputSchema'] {
  if (format.type === 'json_object') return { name: 'answer', schema: anyObject }
  return format.type === 'json_schema' ? { name: textOf(format.name) ?? 'answer', schema: fieldsOf(format.schema) } : undefined
}

const unsupported = (what: string) =>
  new PawlError('unsupported', `This model is asked in another format, which cannot carry ${what}; use a model of OpenAI for it.`)
