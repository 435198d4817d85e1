import { present } from '../fields.ts'
import type {
  JsonObject,
  Message,
  ModelRequest,
  Part,
  TextPart,
  Thinking,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
} from '../model-request.ts'
import { sealForProvider } from '../seal.ts'
import { describedTool } from '../tool-words.ts'
import { isThird, leastBudget, mostBudget, takesThinking } from './models.ts'
import { absentSignature, imagePart } from './parts.ts'
import { toGeminiSchema } from './schema.ts'

export function writeRequest(request: ModelRequest, target: string): { path: string; body: JsonObject } {
  const model = target.replace(/^models\//, '')
  const verb = request.streams ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: `/v1beta/models/${encodeURI(model)}:${verb}`, body: writeBody(request, model) }
}

function writeBody(request: ModelRequest, model: string): JsonObject {
  const system = [...request.system, ...schemaInWords(request, model)].filter(({ text }) => text !== '')
  const config = writeConfig(request, model)
  const { tools, toolChoice } = request
  return present({
    contents: writeMessages(request.messages, isThird(model)),
    systemInstruction: system.length === 0 ? undefined : { parts: system.map(({ text }) => ({ text })) },
    tools: tools.length === 0 ? undefined : [{ functionDeclarations: tools.map(declaration) }],
    toolConfig: tools.length === 0 || toolChoice === 'auto' ? undefined : toolConfig(toolChoice),
    generationConfig: Object.keys(config).length === 0 ? undefined : config,
  })
}

/** Before the third generation a request cannot both offer tools and ask for JSON. */
const mustSaySchema = ({ tools, outputSchema }: ModelRequest, model: string) =>
  outputSchema !== undefined && tools.length > 0 && !isThird(model)

function schemaInWords(request: ModelRequest, model: string): TextPart[] {
  if (!mustSaySchema(request, model)) return []
  const schema = JSON.stringify(request.outputSchema?.schema)
  return [{ kind: 'text', text: `Your last answer must be JSON of this schema, and nothing else: ${schema}` }]
}

const declaration = (tool: Tool): JsonObject =>
  present({ name: tool.name, description: describedTool(tool), parameters: toGeminiSchema(tool.schema) })

function toolConfig(choice: ToolChoice): JsonObject {
  if (typeof choice === 'string') return { functionCallingConfig: { mode: choice.toUpperCase() } }
  return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } }
}

/** The results of calls made side by side must stand in one content, so neighbours of one role become one. */
function writeMessages(messages: readonly Message[], third: boolean): JsonObject[] {
  const names = new Map<string, string>()
  const contents: { role: string; parts: JsonObject[] }[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'model' : 'user'
    for (const part of message.parts) if (part.kind === 'tool_call') names.set(part.id, part.name)
    const parts = message.parts.flatMap((part) => writePart(part, names, third))
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else if (parts.length > 0) contents.push({ role, parts })
  }
  return contents
}

function writePart(part: Part, names: ReadonlyMap<string, string>, third: boolean): JsonObject[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'image':
      return [imagePart(part)]
    case 'thinking': {
      const thoughtSignature = sealForProvider('gemini', part.seal)
      if (part.text === '') return thoughtSignature === undefined ? [] : [{ text: '', thoughtSignature }]
      return [{ text: part.text, thought: true, ...(thoughtSignature === undefined ? {} : { thoughtSignature }) }]
    }
    case 'tool_call':
      return [writeCall(part, third)]
    case 'tool_result':
      return writeResult(part, names.get(part.callId) ?? part.name ?? part.callId, third)
  }
}

function writeCall({ id, name, input, seal }: ToolCallPart, third: boolean): JsonObject {
  const thoughtSignature = sealForProvider('gemini', seal) ?? (third ? absentSignature : undefined)
  return { functionCall: { id, name, args: input }, ...(thoughtSignature === undefined ? {} : { thoughtSignature }) }
}

function writeResult(result: ToolResultPart, name: string, third: boolean): JsonObject[] {
  const text = result.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
  const images = result.parts.flatMap((part) => (part.kind === 'image' ? [imagePart(part)] : []))
  const response = result.isError ? { error: text } : { output: text }
  const answer = { id: result.callId, name, response }
  if (third && images.length > 0) return [{ functionResponse: { ...answer, parts: images } }]
  return [{ functionResponse: answer }, ...images]
}

function writeConfig(request: ModelRequest, model: string): JsonObject {
  const { maxOutputTokens, temperature, topP, topK, stop, thinking } = request
  const outputSchema = mustSaySchema(request, model) ? undefined : request.outputSchema
  return present({
    maxOutputTokens,
    temperature,
    topP,
    topK,
    // It takes no more.
    stopSequences: stop.length === 0 ? undefined : stop.slice(0, 5),
    thinkingConfig: thinking && takesThinking(model) ? writeThinking(thinking, model) : undefined,
    responseMimeType: outputSchema && 'application/json',
    responseSchema: outputSchema && toGeminiSchema(outputSchema.schema),
  })
}

const budgets: Readonly<Record<NonNullable<Thinking['effort']>, number>> = { minimal: 512, low: 2048, medium: 8192, high: 24576 }

/** A request may name a level or a budget, not both. */
function writeThinking({ effort, budgetTokens }: Thinking, model: string): JsonObject {
  if (effort !== undefined && isThird(model)) return { includeThoughts: true, thinkingLevel: effort.toUpperCase() }
  const wanted = budgetTokens ?? (effort && budgets[effort])
  const thinkingBudget = wanted && Math.min(Math.max(wanted, leastBudget), mostBudget(model))
  return present({ includeThoughts: true, thinkingBudget })
}
