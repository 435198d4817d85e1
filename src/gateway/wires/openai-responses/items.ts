import { fieldsOf } from '../../../domain/base/object.ts'
import { inputOf, objectsOf, present, textOf } from '../fields.ts'
import type { JsonObject, ThinkingPart, Tool, ToolCallPart } from '../model-request.ts'
import { isMarked, markedSeal, sealForClient, sealForProvider } from '../seal.ts'

// The items that requests and answers have in common.

/** A thought. Its id belongs to what is sealed: the service looks for both. */
export function thoughtOf(item: JsonObject): ThinkingPart {
  const words = (list: unknown) => objectsOf(list).map((part) => textOf(part.text) ?? '')
  const text = [...words(item.summary), ...words(item.content)].filter((part) => part !== '').join('\n\n')
  return present({ kind: 'thinking', text, seal: sealOf(item) })
}

export function sealOf(item: JsonObject): string | undefined {
  const cipher = textOf(item.encrypted_content)
  if (!cipher) return undefined
  return markedSeal('openai-responses', isMarked(cipher) ? cipher : `${textOf(item.id) ?? ''} ${cipher}`)
}

/** For a client, who brings back what he was given. */
export function clientSeal(seal: string | undefined): { id?: string; encrypted_content?: string } {
  if (seal === undefined) return {}
  return providerSeal(seal) ?? { encrypted_content: sealForClient('openai-responses', seal) }
}

/** Undefined if another provider has thought it. */
export function providerSeal(seal: string | undefined): { id?: string; encrypted_content: string } | undefined {
  const own = sealForProvider('openai-responses', seal)
  if (own === undefined) return undefined
  const space = own.indexOf(' ')
  const id = own.slice(0, Math.max(0, space))
  return { ...(id !== '' && { id }), encrypted_content: own.slice(space + 1) }
}

export const isCall = (item: JsonObject): boolean =>
  item.type === 'function_call' || item.type === 'custom_tool_call' || item.type === 'local_shell_call' || isSearch(item)

/** A search for tools that the client does itself; what the service has found by itself is only history. */
export const isSearch = (item: JsonObject): boolean => item.type === 'tool_search_call' && item.execution === 'client'

export const callOf = (item: JsonObject): ToolCallPart => ({
  kind: 'tool_call',
  id: textOf(item.call_id) ?? textOf(item.id) ?? '',
  name: callName(item),
  input: callInput(item),
})

export function callName(item: JsonObject): string {
  if (item.type === 'local_shell_call') return 'local_shell'
  if (isSearch(item)) return 'tool_search'
  const group = textOf(item.namespace)
  const name = textOf(item.name) ?? ''
  return group ? grouped(group, name) : name
}

function callInput(item: JsonObject): JsonObject {
  if (item.type === 'custom_tool_call') return { input: textOf(item.input) ?? '' }
  if (isSearch(item)) return typeof item.arguments === 'string' ? inputOf(item.arguments) : fieldsOf(item.arguments)
  if (item.type !== 'local_shell_call') return inputOf(textOf(item.arguments) ?? '')
  const { type: _, ...action } = fieldsOf(item.action)
  return action
}

export const grouped = (group: string, name: string) => `${group}__${name}`

/** A call as the tool that it calls was offered. */
export function callItem(call: ToolCallPart, tool: Tool | undefined, id: string): JsonObject {
  const shared = { id, status: 'completed', call_id: call.id }
  if (tool?.form === 'shell') return { type: 'local_shell_call', ...shared, action: { type: 'exec', env: {}, ...call.input } }
  if (tool?.form === 'search') return { type: 'tool_search_call', ...shared, execution: 'client', arguments: call.input }
  const group = tool?.group
  const named = group === undefined ? { name: call.name } : { name: call.name.slice(group.length + 2), namespace: group }
  if (tool?.form === 'text') return { type: 'custom_tool_call', ...shared, ...named, input: bareText(call.input) }
  return { type: 'function_call', ...shared, ...named, arguments: JSON.stringify(call.input) }
}

/** Models that know only JSON put the text into a field; some take another name for it. */
function bareText(input: JsonObject): string {
  const text = textOf(input.input)
  if (text !== undefined) return text
  const values = Object.values(input)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input)
}
