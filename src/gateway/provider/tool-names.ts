import { createHash } from 'node:crypto'
import type { Message, ModelRequest, Part } from '../wires/model-request.ts'
import type { WireName } from '../wires/wire.ts'

/** What each format takes as the name of a tool; one that is not here takes any. */
const taken: Partial<Record<WireName, RegExp>> = {
  'openai-responses': /^[\w-]{1,64}$/,
  'openai-chat': /^[\w-]{1,64}$/,
  gemini: /^[A-Za-z_][\w.:-]{0,63}$/,
  anthropic: /^[\w-]{1,128}$/,
}

export interface ProviderNames {
  readonly request: ModelRequest
  /** As the client calls the tool that the provider's model calls so. */
  clientName(name: string): string
}

/** The request with names of tools that the provider takes. They are made from the names themselves, so that every request of a conversation has the same ones. */
export function withProviderNames(request: ModelRequest, wire: WireName): ProviderNames {
  const fits = taken[wire]
  const own = { request, clientName: (name: string) => name }
  if (!fits) return own
  const names = new Map<string, string>()
  const named = (name: string) => {
    if (fits.test(name)) return name
    const short = shortened(name)
    names.set(short, name)
    return short
  }
  const isFine = ({ parts }: Message) =>
    parts.every((part) => (part.kind !== 'tool_call' && part.kind !== 'tool_result') || !part.name || fits.test(part.name))
  if (request.tools.every(({ name }) => fits.test(name)) && request.messages.every(isFine)) return own
  const { toolChoice } = request
  const renamed: ModelRequest = {
    ...request,
    tools: request.tools.map((tool) => ({ ...tool, name: named(tool.name) })),
    toolChoice: typeof toolChoice === 'string' ? toolChoice : { name: named(toolChoice.name) },
    messages: request.messages.map((message) => ({ ...message, parts: message.parts.map((part) => renamedPart(part, named)) })),
  }
  return { request: renamed, clientName: (name) => names.get(name) ?? name }
}

function renamedPart(part: Part, named: (name: string) => string): Part {
  if (part.kind === 'tool_call') return { ...part, name: named(part.name) }
  return part.kind === 'tool_result' && part.name ? { ...part, name: named(part.name) } : part
}

/** The beginning, so that the model can still read what it is about, and what tells it from others that begin so. */
function shortened(name: string): string {
  const readable = name.replace(/[^\w-]/g, '_').replace(/^[^A-Za-z_]/, '_')
  return `${readable.slice(0, 53)}_${createHash('sha256').update(name).digest('hex').slice(0, 10)}`
}
