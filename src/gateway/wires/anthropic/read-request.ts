import { fieldsOf } from '../../../domain/base/object.ts'
import { invalid, PawlError } from '../../../domain/error.ts'
import { readEffort } from '../effort.ts'
import { modelOf, numberOf, objectsOf, present, textOf, textsOf } from '../fields.ts'
import type { ImagePart, JsonObject, ModelRequest, Part, TextPart, Thinking, ToolChoice } from '../model-request.ts'
import { markedSeal } from '../seal.ts'
import { asReminder, createTurns } from '../turns.ts'
import { readTools } from './read-tools.ts'

/** What only its maker's service understands (context management, betas, metadata, containers) is left out: it changes how an answer is made, not what was asked. */
export function readRequest(body: JsonObject): ModelRequest {
  const turns = createTurns()
  if (!Array.isArray(body.messages)) throw invalid('The request has no list of "messages".')
  const system = systemOf(body.system)
  for (const message of objectsOf(body.messages)) {
    if (message.role !== 'system') turns.add(message.role === 'assistant' ? 'assistant' : 'user', partsOf(message.content))
    else if (turns.isEmpty) system.push({ kind: 'text', text: textsOf(message.content) })
    else if (textsOf(message.content) !== '') turns.add('user', [asReminder(textsOf(message.content))])
  }
  const choice = fieldsOf(body.tool_choice)
  return present({
    model: modelOf(body),
    system,
    messages: turns.messages(),
    tools: readTools(body),
    toolChoice: choiceOf(choice),
    parallelTools: choice.disable_parallel_tool_use !== true,
    maxOutputTokens: numberOf(body.max_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop: Array.isArray(body.stop_sequences) ? body.stop_sequences.filter((text) => typeof text === 'string') : [],
    thinking: thinkingOf(body),
    outputSchema: schemaOf(body),
    streams: body.stream === true,
  })
}

/** Who pays at the maker's own service is of no use to another, and would spoil its cache. */
const billing = 'x-anthropic-billing-header:'

function systemOf(system: unknown): TextPart[] {
  if (typeof system === 'string') return system === '' ? [] : [{ kind: 'text', text: system }]
  return objectsOf(system).flatMap((block): TextPart[] => {
    const text = textOf(block.text) ?? ''
    return text === '' || text.startsWith(billing) ? [] : [textPart(block, text)]
  })
}

const textPart = (block: JsonObject, text: string): TextPart =>
  block.cache_control ? { kind: 'text', text, isCacheMark: true } : { kind: 'text', text }

function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return objectsOf(content).flatMap(partOf)
}

function partOf(block: JsonObject): Part[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [textPart(block, textOf(block.text) ?? '')]
    case 'image':
      return [imageOf(block)]
    case 'document':
      return [documentOf(block)]
    case 'thinking': {
      const seal = textOf(block.signature)
      return [
        present({ kind: 'thinking', text: textOf(block.thinking) ?? '', seal: seal ? markedSeal('anthropic', seal) : undefined }),
      ]
    }
    case 'redacted_thinking':
      return [{ kind: 'thinking', text: '', seal: markedSeal('anthropic', `${redactedMark}${textOf(block.data) ?? ''}`) }]
    case 'tool_use':
      return [{ kind: 'tool_call', id: textOf(block.id) ?? '', name: textOf(block.name) ?? '', input: fieldsOf(block.input) }]
    case 'tool_result':
      return [
        {
          kind: 'tool_result',
          callId: textOf(block.tool_use_id) ?? '',
          parts: resultParts(block.content),
          isError: block.is_error === true,
        },
      ]
    case 'tool_addition':
    case 'tool_removal':
      return []
    default:
      throw unsupported(`a "${String(block.type)}" block in a message`)
  }
}

/** What stands in a redacted block is as opaque as a signature, but goes back in a block of its own kind. */
export const redactedMark = 'redacted:'

function resultParts(content: unknown): (TextPart | ImagePart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return objectsOf(content).map((block): TextPart | ImagePart => {
    if (block.type === 'text') return { kind: 'text', text: textOf(block.text) ?? '' }
    if (block.type === 'image') return imageOf(block)
    if (block.type === 'document') return documentOf(block)
    if (block.type === 'search_result') return { kind: 'text', text: textsOf(block.content) }
    if (block.type === 'tool_reference') return { kind: 'text', text: `The tool ${String(block.tool_name)} is now offered.` }
    throw unsupported(`a "${String(block.type)}" block in the result of a tool`)
  })
}

function imageOf(block: JsonObject): ImagePart {
  const source = fieldsOf(block.source)
  const mediaType = textOf(source.media_type) ?? 'image/jpeg'
  if (source.type === 'url') return { kind: 'image', mediaType, url: textOf(source.url) ?? '' }
  if (source.type === 'base64') return { kind: 'image', mediaType, data: textOf(source.data) ?? '' }
  throw unsupported(`an image from a "${String(source.type)}"`)
}

function documentOf(block: JsonObject): TextPart {
  const source = fieldsOf(block.source)
  const title = textOf(block.title)
  if (source.type === 'text') return { kind: 'text', text: `${title ? `${title}\n\n` : ''}${textOf(source.data) ?? ''}` }
  if (source.type === 'content') return { kind: 'text', text: textsOf(source.content) }
  throw unsupported(`a document of the type "${String(source.media_type ?? source.type)}"`)
}

function choiceOf(choice: JsonObject): ToolChoice {
  if (choice.type === 'any' || choice.type === 'none') return choice.type
  return choice.type === 'tool' ? { name: textOf(choice.name) ?? '' } : 'auto'
}

function thinkingOf(body: JsonObject): Thinking | undefined {
  const thinking = fieldsOf(body.thinking)
  if (thinking.type !== 'enabled' && thinking.type !== 'adaptive') return undefined
  return present({ budgetTokens: numberOf(thinking.budget_tokens), effort: readEffort(fieldsOf(body.output_config).effort) })
}

function schemaOf(body: JsonObject): ModelRequest['outputSchema'] {
  const format = fieldsOf(fieldsOf(body.output_config).format ?? body.output_format)
  return format.type === 'json_schema' ? { name: 'answer', schema: fieldsOf(format.schema) } : undefined
}

const unsupported = (what: string) =>
  new PawlError(
    'unsupported',
    `This model is asked in another format, which cannot carry ${what}; use a model of Anthropic for it.`,
  )
