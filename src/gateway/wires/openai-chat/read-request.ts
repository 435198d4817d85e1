import { fieldsOf } from '../../../domain/base/object.ts'
import { invalid, PawlError } from '../../../domain/error.ts'
import { readEffort } from '../effort.ts'
import { imageOf, inputOf, modelOf, numberOf, objectsOf, present, textOf, textsOf } from '../fields.ts'
import type { ImagePart, JsonObject, ModelRequest, Part, TextPart, Tool, ToolCallPart, ToolChoice } from '../model-request.ts'
import { anyObject } from '../openai/models.ts'
import { markedSeal } from '../seal.ts'
import { asReminder, createTurns } from '../turns.ts'

export function readRequest(body: JsonObject): ModelRequest {
  if (!Array.isArray(body.messages)) throw invalid('The request has no list of "messages".')
  if ((numberOf(body.n) ?? 1) > 1)
    throw new PawlError('unsupported', 'Only one answer can be asked for at a time; leave out "n".')
  const turns = createTurns()
  const system: TextPart[] = []
  for (const message of objectsOf(body.messages)) {
    if (message.role === 'system' || message.role === 'developer') {
      const text = textsOf(message.content)
      if (text === '') continue
      if (turns.isEmpty) system.push({ kind: 'text', text })
      else turns.add('user', [asReminder(text)])
    } else if (message.role === 'assistant') turns.add('assistant', answered(message))
    else if (message.role === 'tool' || message.role === 'function') turns.add('user', [resultOf(message)])
    else turns.add('user', contentOf(message.content))
  }
  const effort = readEffort(body.reasoning_effort ?? fieldsOf(body.reasoning).effort)
  return present({
    model: modelOf(body),
    system,
    messages: turns.messages(),
    tools: objectsOf(body.tools).flatMap(toolOf),
    toolChoice: choiceOf(body.tool_choice),
    parallelTools: body.parallel_tool_calls !== false,
    maxOutputTokens: numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop:
      typeof body.stop === 'string'
        ? [body.stop]
        : Array.isArray(body.stop)
          ? body.stop.filter((text) => typeof text === 'string')
          : [],
    thinking: effort ? { effort } : undefined,
    outputSchema: schemaOf(fieldsOf(body.response_format)),
    streams: body.stream === true,
    wantsUsage: fieldsOf(body.stream_options).include_usage === true,
  })
}

/** Thoughts come back only from clients that know the fields by which others than OpenAI tell them. */
function answered(message: JsonObject): Part[] {
  return [...thoughtOf(message), ...contentOf(message.content), ...objectsOf(message.tool_calls).map(callOf)]
}

export function thoughtOf(message: JsonObject): Part[] {
  const text = textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? ''
  const seal = sealOf(message.reasoning_details)
  return text === '' && seal === undefined ? [] : [present({ kind: 'thinking' as const, text, seal })]
}

/** OpenRouter's way of carrying what is sealed. */
export function sealOf(details: unknown): string | undefined {
  const sealed = objectsOf(details).find((detail) => detail.type === 'reasoning.encrypted' || detail.signature)
  const raw = textOf(sealed?.data) ?? textOf(sealed?.signature)
  return raw ? markedSeal('openai-chat', raw) : undefined
}

export function callOf(call: JsonObject): ToolCallPart {
  const called = fieldsOf(call.function ?? call.custom)
  const seal = callSeal(call)
  return present({
    kind: 'tool_call' as const,
    id: textOf(call.id) ?? '',
    name: textOf(called.name) ?? '',
    input: inputOf(textOf(called.arguments) ?? JSON.stringify({ input: called.input ?? '' })),
    seal,
  })
}

/** Google's way of carrying the seal of a call. */
export function callSeal(call: JsonObject): string | undefined {
  const raw = textOf(fieldsOf(fieldsOf(call.extra_content).google).thought_signature)
  return raw ? markedSeal('openai-chat', raw) : undefined
}

function contentOf(content: unknown): (TextPart | ImagePart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return objectsOf(content).flatMap((block): (TextPart | ImagePart)[] => {
    if (block.type === 'text' || block.type === 'refusal') {
      const text = textOf(block.text) ?? textOf(block.refusal) ?? ''
      return text === '' ? [] : [block.cache_control ? { kind: 'text', text, isCacheMark: true } : { kind: 'text', text }]
    }
    if (block.type === 'image_url')
      return [{ kind: 'image', ...imageOf(textOf(fieldsOf(block.image_url).url) ?? textOf(block.image_url) ?? '') }]
    throw new PawlError(
      'unsupported',
      `This model is asked in another format, which cannot carry a "${String(block.type)}" part; leave it out.`,
    )
  })
}

const resultOf = (message: JsonObject): Part =>
  present({
    kind: 'tool_result' as const,
    callId: textOf(message.tool_call_id) ?? '',
    name: textOf(message.name),
    parts: contentOf(message.content),
    isError: false,
  })

function toolOf(tool: JsonObject): Tool[] {
  const made = fieldsOf(tool.function ?? tool.custom)
  const name = textOf(made.name)
  if (name === undefined) return []
  return [
    present({
      name,
      description: textOf(made.description),
      schema: made.parameters === undefined ? anyObject : fieldsOf(made.parameters),
    }),
  ]
}

function choiceOf(choice: unknown): ToolChoice {
  if (choice === 'none') return 'none'
  if (choice === 'required') return 'any'
  const name = textOf(fieldsOf(fieldsOf(choice).function).name)
  return name === undefined ? 'auto' : { name }
}

function schemaOf(format: JsonObject): ModelRequest['outputSchema'] {
  if (format.type === 'json_object') return { name: 'answer', schema: anyObject }
  const wanted = fieldsOf(format.json_schema)
  return format.type === 'json_schema' ? { name: textOf(wanted.name) ?? 'answer', schema: fieldsOf(wanted.schema) } : undefined
}
