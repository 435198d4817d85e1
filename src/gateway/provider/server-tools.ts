import { fieldsOf, isObject } from '../../domain/base/object.ts'
import { PawlError } from '../../domain/error.ts'
import { objectsOf, textOf } from '../wires/fields.ts'
import { edited, membersOf } from '../wires/json-members.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { WireName } from '../wires/wire.ts'

/** What a provider does itself while it answers: it reaches other machines past our rules, and costs beyond what tokens do. */
export interface ServerTools {
  /** Those that are offered, as they are called. */
  readonly names: readonly string[]
  /** At the most so many searches, where one is offered that is paid by the piece. */
  readonly pieces: Readonly<Record<string, number>>
}

export function serverToolsOf(wire: WireName, body: JsonObject): ServerTools {
  const names = objectsOf(body.tools).flatMap((tool) => namesIn(wire, tool))
  if (wire === 'openai-chat') names.push(...['web_search_options', 'plugins'].filter((name) => isGiven(body[name])))
  if (wire === 'anthropic' && objectsOf(body.mcp_servers).length > 0) names.push('mcp_servers')
  return { names, pieces: names.length === 0 ? none : searchesIn(wire, body) }
}

const none: ServerTools['pieces'] = {}

/**
 * The same request without tools that the provider runs and without addresses that it would fetch. Those that are only offered beside others are not missed; of a request that is about them
 * a `PawlError` says why it goes no further.
 */
export function withoutServerTools(wire: WireName, bytes: Buffer, body: JsonObject): Buffer {
  const address = mayHoldAddresses(bytes) ? addressIn(body) : undefined
  if (address !== undefined)
    throw refusal(`have "${shownAddress(address)}" fetched by the provider; send what is there instead of its address`)
  const { names } = serverToolsOf(wire, body)
  const [first] = names
  if (first === undefined) return bytes
  const all = objectsOf(body.tools)
  const left = all.map((tool) => own(wire, tool)).filter((tool) => tool !== undefined)
  const isOnlyOffered = left.length > 0 && all.length > 0 && !isForced(body.tool_choice, names)
  if (!isOnlyOffered || names.some((name) => name === 'plugins' || name === 'web_search_options' || name === 'mcp_servers'))
    throw refusal(`use "${first}", which the provider runs itself; use a tool of your own`)
  return edited(
    bytes,
    membersOf(bytes, toolsOnly).map(({ start, end }) => ({ start, end, text: JSON.stringify(left) })),
  )
}

const toolsOnly = new Set(['tools'])

const refusal = (what: string) =>
  new PawlError(
    'unsupported',
    `This run may not ${what}, since it would pass the run's network rules. Whoever runs Pawl can allow it with "serverTools: true" at the provider.`,
  )

/** Services that a maker's own machines run, by the types of their tools. */
const ofAnthropic = /^(web_search|web_fetch|code_execution|mcp_toolset|advisor)/
const ofOpenai = /^(web_search|file_search|code_interpreter|image_generation|mcp$)/
const declared = new Set(['functionDeclarations', 'function_declarations', 'computerUse', 'computer_use'])

function namesIn(wire: WireName, tool: JsonObject): string[] {
  const type = textOf(tool.type) ?? ''
  if (wire === 'gemini') return Object.keys(tool).filter((name) => !declared.has(name) && isGiven(tool[name]))
  if (wire === 'anthropic') return ofAnthropic.test(type) ? [textOf(tool.name) ?? type] : []
  return wire.startsWith('openai') && ofOpenai.test(type) ? [type] : []
}

/** What is left of a tool; undefined if nothing is. */
function own(wire: WireName, tool: JsonObject): JsonObject | undefined {
  if (namesIn(wire, tool).length === 0) return tool
  if (wire !== 'gemini') return undefined
  const kept = Object.entries(tool).filter(([name]) => declared.has(name))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function isForced(choice: unknown, names: readonly string[]): boolean {
  const { name, type } = fieldsOf(choice)
  return [name, type].some((it) => typeof it === 'string' && names.includes(it))
}

const isGiven = (value: unknown) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

/** Nobody searches more often in one answer where nothing is said of it. */
const mostSearches = 10

function searchesIn(wire: WireName, body: JsonObject): ServerTools['pieces'] {
  const tools = objectsOf(body.tools)
  if (wire === 'gemini')
    return tools.some((tool) => namesIn(wire, tool).some((name) => /search/i.test(name))) ? { grounded_prompts: 1 } : none
  const search = tools.find((tool) => /^web_search/.test(textOf(tool.type) ?? ''))
  if (!search) return none
  const most = Number(search.max_uses ?? body.max_tool_calls ?? mostSearches)
  return { web_search_requests: most > 0 ? most : mostSearches }
}

/** A look at the bytes, before everything is looked at. */
const mayHoldAddresses = (bytes: Buffer) => addressWords.some((word) => bytes.includes(word))
const addressWords = ['"url"', 'image_url', 'file_url', 'fileUri', 'file_uri']

/** Where formats put the parts of a message: what a tool was called with is text, even if it looks like one of them. */
const partKeys = new Set(['messages', 'contents', 'content', 'parts', 'input', 'output', 'functionResponse', 'function_response'])

function addressIn(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = addressIn(item)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isObject(value)) return undefined
  const own = addressOf(value)
  if (own !== undefined) return own
  for (const key in value)
    if (partKeys.has(key) && (key !== 'input' || Array.isArray(value[key]))) {
      const found = addressIn(value[key])
      if (found !== undefined) return found
    }
  return undefined
}

/** A part that is somewhere else. Those that hold what they are about say `data:`, and those that the provider keeps have an id. */
function addressOf(part: JsonObject): string | undefined {
  const file = fieldsOf(part.fileData ?? part.file_data)
  const places =
    part.type === 'image' || part.type === 'document'
      ? [fieldsOf(part.source).url]
      : part.type === 'image_url' || part.type === 'input_image' || part.type === 'input_file' || part.type === 'file'
        ? [part.image_url, fieldsOf(part.image_url).url, part.file_url, fieldsOf(part.file).file_url]
        : [file.fileUri ?? file.file_uri]
  return places.find((place): place is string => typeof place === 'string' && /^(https?|gs|ftp):/i.test(place) && !isKept(place))
}

/** A file that the maker keeps for whoever sent it there. */
const isKept = (address: string) => address.startsWith('https://generativelanguage.googleapis.com/')

const shownAddress = (address: string) => (URL.canParse(address) ? new URL(address).origin : address.slice(0, 40))
