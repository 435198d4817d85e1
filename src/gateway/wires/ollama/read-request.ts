import { fieldsOf, isObject } from '../../../domain/base/object.ts'
import { invalid } from '../../../domain/error.ts'
import { asText, given, inputOf, modelOf, present, required } from '../fields.ts'
import type {
  ImagePart,
  JsonObject,
  ModelRequest,
  Part,
  TextPart,
  Thinking,
  Tool,
  ToolCallPart,
  ToolResultPart,
} from '../model-request.ts'
import { createTurns } from '../turns.ts'
import { mediaTypeOf } from './images.ts'

export function readRequest(body: JsonObject): ModelRequest {
  const options = given.object(body.options, 'options') ?? {}
  const number = (name: string) => given.number(options[name], `options.${name}`)
  const most = number('num_predict')
  const stop = typeof options.stop === 'string' ? [options.stop] : (given.list(options.stop, 'options.stop') ?? [])
  return present({
    model: modelOf(body),
    ...readMessages(body),
    tools: (given.list(body.tools, 'tools') ?? []).map(readTool),
    toolChoice: 'auto',
    parallelTools: true,
    maxOutputTokens: most !== undefined && most > 0 ? most : undefined,
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    stop: stop.map(asText),
    thinking: readThinking(body.think),
    outputSchema: readFormat(body.format),
    streams: body.stream !== false,
  })
}

function readMessages(body: JsonObject): Pick<ModelRequest, 'system' | 'messages'> {
  const system: TextPart[] = []
  const turns = createTurns()
  const calls = new Calls()
  const all = required(given.list(body.messages, 'messages'), 'messages')
  for (const [index, item] of all.entries()) {
    const where = `messages[${index}]`
    const message = required(given.object(item, where), where)
    const text = given.text(message.content, `${where}.content`) ?? ''
    const words: TextPart[] = text === '' ? [] : [{ kind: 'text', text }]
    const images = (given.list(message.images, `${where}.images`) ?? []).map((data) => imageOf(data, where))
    if (message.role === 'system') system.push(...words)
    else if (message.role === 'user') turns.add('user', [...words, ...images])
    else if (message.role === 'assistant')
      turns.add('assistant', [...thoughtsOf(message), ...words, ...calls.called(message, where)])
    else if (message.role === 'tool') turns.add('user', [calls.answered(message, [...words, ...images])])
    else throw invalid(`"${where}.role" of the request must be "system", "user", "assistant" or "tool".`)
  }
  return { system, messages: turns.messages() }
}

function thoughtsOf(message: JsonObject): Part[] {
  const text = asText(message.thinking)
  return text === '' ? [] : [{ kind: 'thinking', text }]
}

function imageOf(data: unknown, where: string): ImagePart {
  const text = required(given.text(data, `${where}.images`), `${where}.images`)
  return { kind: 'image', mediaType: mediaTypeOf(text), data: text }
}

/** Older clients give neither calls nor results an id: a result then belongs to the first open call of its name, or to the first open one. */
class Calls {
  #open: ToolCallPart[] = []
  #count = 0

  called(message: JsonObject, where: string): ToolCallPart[] {
    const calls = (given.list(message.tool_calls, `${where}.tool_calls`) ?? []).map((item): ToolCallPart => {
      const call = fieldsOf(item)
      const made = fieldsOf(call.function)
      this.#count += 1
      const input = typeof made.arguments === 'string' ? inputOf(made.arguments) : fieldsOf(made.arguments)
      return { kind: 'tool_call', id: asText(call.id) || `ollama_call_${this.#count}`, name: asText(made.name), input }
    })
    this.#open.push(...calls)
    return calls
  }

  answered(message: JsonObject, parts: ToolResultPart['parts']): ToolResultPart {
    const id = asText(message.tool_call_id)
    const name = asText(message.tool_name) || asText(message.name)
    const call = this.#open.find((it) => (id === '' ? name === '' || it.name === name : it.id === id))
    this.#open = this.#open.filter((it) => it !== call)
    const known = call?.name ?? name
    return present({
      kind: 'tool_result',
      callId: id || (call?.id ?? `ollama_call_${this.#count}`),
      name: known === '' ? undefined : known,
      parts,
      isError: false,
    })
  }
}

function readTool(item: unknown, index: number): Tool {
  const where = `tools[${index}].function`
  const tool = required(given.object(fieldsOf(item).function, where), where)
  return present({
    name: required(given.text(tool.name, `${where}.name`), `${where}.name`),
    description: given.text(tool.description, `${where}.description`),
    schema: given.object(tool.parameters, `${where}.parameters`) ?? { type: 'object', properties: {} },
  })
}

function readThinking(think: unknown): Thinking | undefined {
  if (think === true) return {}
  return think === 'low' || think === 'medium' || think === 'high' ? { effort: think } : undefined
}

/** `json` without a schema asks for any object. */
function readFormat(format: unknown): ModelRequest['outputSchema'] {
  if (format === 'json') return { name: 'answer', schema: { type: 'object' } }
  return isObject(format) ? { name: 'answer', schema: format } : undefined
}
