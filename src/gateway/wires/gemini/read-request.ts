import { isObject } from '../../../domain/base/object.ts'
import { invalid, PawlError } from '../../../domain/error.ts'
import { asText, given, present, required } from '../fields.ts'
import type {
  ImagePart,
  JsonObject,
  Message,
  ModelRequest,
  Part,
  TextPart,
  Thinking,
  Tool,
  ToolChoice,
  ToolResultPart,
} from '../model-request.ts'
import type { Asked } from '../wire.ts'
import { callOf, field, imageOf, wordsOf } from './parts.ts'
import { fromGeminiSchema } from './schema.ts'

export function readRequest(body: JsonObject, asked: Asked): ModelRequest {
  if (field(body, 'cachedContent') !== undefined) throw beyondOthers('cachedContent')
  const config = given.object(field(body, 'generationConfig'), 'generationConfig') ?? {}
  const number = (name: string) => given.number(field(config, name), `generationConfig.${name}`)
  if ((number('candidateCount') ?? 1) > 1) throw beyondOthers('generationConfig.candidateCount')
  const modalities = given.list(field(config, 'responseModalities'), 'generationConfig.responseModalities') ?? []
  if (modalities.some((it) => asText(it).toUpperCase() !== 'TEXT')) throw beyondOthers('generationConfig.responseModalities')
  const { choice, allowed } = readChoice(body)
  const stop = given.list(field(config, 'stopSequences'), 'generationConfig.stopSequences') ?? []
  return present({
    model: required(asked.model, 'model'),
    system: readSystem(body),
    messages: readContents(body),
    tools: readTools(body).filter(({ name }) => allowed === undefined || allowed.includes(name)),
    toolChoice: choice,
    parallelTools: true,
    maxOutputTokens: number('maxOutputTokens'),
    temperature: number('temperature'),
    topP: number('topP'),
    topK: number('topK'),
    stop: stop.map(asText),
    thinking: readThinking(config),
    outputSchema: readOutputSchema(config),
    streams: asked.streams === true,
  })
}

const beyondOthers = (name: string) =>
  new PawlError('unsupported', `The model that serves this request is not a Gemini model and cannot do "${name}"; leave it out.`)

function readSystem(body: JsonObject): TextPart[] {
  const told = field(body, 'systemInstruction')
  if (typeof told === 'string') return [{ kind: 'text', text: told }]
  const parts = given.list(given.object(told, 'systemInstruction')?.parts, 'systemInstruction.parts') ?? []
  return parts.flatMap((part) => (isObject(part) && asText(part.text) !== '' ? [{ kind: 'text', text: asText(part.text) }] : []))
}

function readContents(body: JsonObject): Message[] {
  const contents = required(given.list(body.contents, 'contents'), 'contents')
  const calls = new Calls()
  return contents.map((content, index): Message => {
    const where = `contents[${index}]`
    const { role, parts } = required(given.object(content, where), where)
    if (role !== undefined && role !== 'user' && role !== 'model' && role !== 'function') {
      throw invalid(`"${where}.role" of the request must be "user" or "model".`)
    }
    const all = given.list(parts, `${where}.parts`) ?? []
    const read = all.flatMap((part, at) => readPart(required(given.object(part, where), where), `${where}.parts[${at}]`, calls))
    return { role: role === 'model' ? 'assistant' : 'user', parts: read }
  })
}

function readPart(part: JsonObject, where: string, calls: Calls): Part[] {
  const call = field(part, 'functionCall')
  if (isObject(call)) return [calls.called(part, call)]
  const result = field(part, 'functionResponse')
  if (isObject(result)) return [calls.answered(result, where)]
  if (typeof part.text === 'string') return wordsOf(part)
  const image = imageOf(part)
  if (image) return [image]
  throw beyondOthers(`${where}.${Object.keys(part)[0] ?? 'text'}`)
}

/** Gemini may leave ids away: results then belong to the calls of their name, in their order. */
class Calls {
  readonly #open: { readonly id: string; readonly name: string }[] = []
  #count = 0

  /** An id of our own is the call's place in the conversation, so that it is the same in every later request. */
  called(part: JsonObject, call: JsonObject): Part {
    this.#count += 1
    const read = callOf(part, call, `gemini_call_${this.#count}`)
    this.#open.push(read)
    return read
  }

  answered(result: JsonObject, where: string): ToolResultPart {
    const name = asText(result.name)
    const id = asText(result.id)
    const at = this.#open.findIndex((call) => (id === '' ? call.name === name : call.id === id))
    const callId = id || this.#open[at]?.id
    if (callId === undefined) throw invalid(`"${where}.functionResponse" of the request answers no call of "${name}".`)
    if (at >= 0) this.#open.splice(at, 1)
    return { kind: 'tool_result', callId, name, ...readResponse(result, where) }
  }
}

function readResponse(result: JsonObject, where: string): Pick<ToolResultPart, 'parts' | 'isError'> {
  const response = given.object(result.response, `${where}.functionResponse.response`) ?? {}
  const [only, ...others] = Object.keys(response)
  const isError = only === 'error' && others.length === 0
  const told = others.length === 0 && (isError || only === 'output' || only === 'result') ? response[only!] : response
  const text = typeof told === 'string' ? told : JSON.stringify(told)
  const media = (given.list(result.parts, `${where}.functionResponse.parts`) ?? []).map((part, at): ImagePart => {
    const image = isObject(part) ? imageOf(part) : undefined
    if (image === undefined) throw beyondOthers(`${where}.functionResponse.parts[${at}]`)
    return image
  })
  return { parts: [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...media], isError }
}

function readTools(body: JsonObject): Tool[] {
  return (given.list(body.tools, 'tools') ?? []).flatMap((entry, index) => {
    const tool = required(given.object(entry, `tools[${index}]`), `tools[${index}]`)
    const declared = given.list(field(tool, 'functionDeclarations'), `tools[${index}].functionDeclarations`)
    const other = Object.keys(tool).find((name) => !['functionDeclarations', 'function_declarations'].includes(name))
    if (other !== undefined) throw beyondOthers(`tools[${index}].${other}`)
    return (declared ?? []).map((it, at) => readTool(it, `tools[${index}].functionDeclarations[${at}]`))
  })
}

function readTool(declared: unknown, where: string): Tool {
  const tool = required(given.object(declared, where), where)
  const json = given.object(field(tool, 'parametersJsonSchema'), `${where}.parametersJsonSchema`)
  const own = given.object(tool.parameters, `${where}.parameters`)
  return present({
    name: required(given.text(tool.name, `${where}.name`), `${where}.name`),
    description: given.text(tool.description, `${where}.description`),
    schema: json ?? (own ? fromGeminiSchema(own) : { type: 'object', properties: {} }),
  })
}

/** `allowed` where only some of the tools may be called: no other format says that but by offering no more. */
function readChoice(body: JsonObject): { choice: ToolChoice; allowed?: readonly string[] } {
  const config = given.object(field(body, 'toolConfig'), 'toolConfig') ?? {}
  const calling = given.object(field(config, 'functionCallingConfig'), 'toolConfig.functionCallingConfig') ?? {}
  const mode = asText(calling.mode).toUpperCase()
  if (mode === 'NONE') return { choice: 'none' }
  if (mode !== 'ANY') return { choice: 'auto' }
  const names = given.list(field(calling, 'allowedFunctionNames'), 'toolConfig.functionCallingConfig.allowedFunctionNames') ?? []
  const allowed = names.map(asText)
  if (allowed.length === 0) return { choice: 'any' }
  return allowed.length === 1 ? { choice: { name: allowed[0]! } } : { choice: 'any', allowed }
}

function readThinking(config: JsonObject): Thinking | undefined {
  const told = given.object(field(config, 'thinkingConfig'), 'generationConfig.thinkingConfig')
  if (told === undefined) return undefined
  const budget = given.number(field(told, 'thinkingBudget'), 'generationConfig.thinkingConfig.thinkingBudget')
  const level = asText(field(told, 'thinkingLevel')).toLowerCase()
  if (budget === 0) return undefined
  if (level === 'minimal' || level === 'low' || level === 'medium' || level === 'high') return { effort: level }
  return budget === undefined || budget < 0 ? {} : { budgetTokens: budget }
}

function readOutputSchema(config: JsonObject): ModelRequest['outputSchema'] {
  const json = given.object(field(config, 'responseJsonSchema'), 'generationConfig.responseJsonSchema')
  const own = given.object(field(config, 'responseSchema'), 'generationConfig.responseSchema')
  if (json) return { name: 'answer', schema: json }
  return own && { name: 'answer', schema: fromGeminiSchema(own) }
}
