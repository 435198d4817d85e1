import { PawlError } from '../../../domain/error.ts'
import { present } from '../fields.ts'
import type { ImagePart, JsonObject, Message, ModelRequest, Part, Thinking, Tool, ToolResultPart } from '../model-request.ts'
import { describedTool } from '../tool-words.ts'

export function writeRequest(request: ModelRequest, target: string): { path: string; body: JsonObject } {
  const system = request.system.map(({ text }) => text).join('\n\n')
  const options = writeOptions(request)
  const tools = offered(request)
  return {
    path: '/api/chat',
    body: present({
      model: target,
      messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...writeMessages(request.messages)],
      stream: request.streams,
      tools: tools.length === 0 ? undefined : tools.map(writeTool),
      think: writeThinking(request.thinking, target),
      // Left to itself it drops the beginning of a conversation that is too long, and says nothing.
      truncate: false,
      shift: false,
      format: request.outputSchema?.schema,
      options: Object.keys(options).length === 0 ? undefined : options,
    }),
  }
}

/** Ollama lets the model choose; what can be kept of another choice is which tools it sees. */
function offered({ tools, toolChoice }: ModelRequest): readonly Tool[] {
  if (toolChoice === 'none') return []
  return typeof toolChoice === 'string' ? tools : tools.filter(({ name }) => name === toolChoice.name)
}

const writeTool = (tool: Tool): JsonObject => ({
  type: 'function',
  function: present({ name: tool.name, description: describedTool(tool), parameters: tool.schema }),
})

/** Models that can think do so unasked; the others refuse a request that asks for it. Only gpt-oss knows efforts. */
function writeThinking(thinking: Thinking | undefined, target: string): string | undefined {
  if (!target.includes('gpt-oss')) return undefined
  return thinking?.effort === 'minimal' ? 'low' : thinking?.effort
}

const writeOptions = ({ maxOutputTokens, temperature, topP, topK, stop }: ModelRequest): JsonObject =>
  present({
    num_predict: maxOutputTokens,
    temperature,
    top_p: topP,
    top_k: topK,
    stop: stop.length === 0 ? undefined : stop,
  })

/** Each result is a message of its own. */
function writeMessages(messages: readonly Message[]): JsonObject[] {
  const names = new Map<string, string>()
  return messages.flatMap(({ role, parts }) => {
    if (role === 'assistant') {
      for (const part of parts) if (part.kind === 'tool_call') names.set(part.id, part.name)
      return writeAssistant(parts)
    }
    const results = parts.filter((part) => part.kind === 'tool_result').map((part) => writeResult(part, names))
    const content = textOf(parts)
    const images = imagesOf(parts)
    const said = content === '' && images === undefined ? [] : [present({ role: 'user', content, images })]
    return [...results, ...said]
  })
}

function writeAssistant(parts: readonly Part[]): JsonObject[] {
  const calls = parts.flatMap((part) =>
    part.kind === 'tool_call' ? [{ id: part.id, function: { name: part.name, arguments: part.input } }] : [],
  )
  const thinking = parts.map((part) => (part.kind === 'thinking' ? part.text : '')).join('')
  const content = textOf(parts)
  if (content === '' && thinking === '' && calls.length === 0) return []
  return [
    present({
      role: 'assistant',
      content,
      thinking: thinking === '' ? undefined : thinking,
      tool_calls: calls.length === 0 ? undefined : calls,
    }),
  ]
}

function writeResult(result: ToolResultPart, names: ReadonlyMap<string, string>): JsonObject {
  const text = textOf(result.parts)
  return present({
    role: 'tool',
    content: result.isError ? `Error: ${text}` : text,
    tool_name: names.get(result.callId) ?? result.name,
    tool_call_id: result.callId,
    images: imagesOf(result.parts),
  })
}

const textOf = (parts: readonly Part[]) => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')

function imagesOf(parts: readonly Part[]): string[] | undefined {
  const images = parts.filter((part) => part.kind === 'image').map(dataOf)
  return images.length === 0 ? undefined : images
}

function dataOf({ data, url }: ImagePart): string {
  if (data !== undefined) return data
  throw new PawlError('unsupported', `Ollama cannot fetch the image at "${url}"; send the image itself.`)
}
