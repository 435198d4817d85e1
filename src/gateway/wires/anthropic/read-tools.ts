import { fieldsOf } from '../../../domain/base/object.ts'
import { PawlError } from '../../../domain/error.ts'
import { objectsOf, present, textOf } from '../fields.ts'
import type { JsonObject, Tool } from '../model-request.ts'

/**
 * The tools that the model may call where this request ends. Anthropic's service keeps tools back until a message refers to them; other
 * formats know only offered ones, so those that nothing referred to yet are left out.
 */
export function readTools(body: JsonObject): Tool[] {
  const all = objectsOf(body.tools)
  const offered = new Map<string, JsonObject>()
  for (const tool of all) if (tool.defer_loading !== true) offered.set(nameOf(tool), tool)
  const kept = new Map(all.map((tool) => [nameOf(tool), tool]))
  for (const change of changesOf(body.messages)) {
    if (change.isRemoval) offered.delete(change.name)
    else {
      const tool = change.definition ?? kept.get(change.name)
      if (tool) offered.set(change.name, tool)
    }
  }
  const tools = [...offered.values()].filter((tool) => !isServers(tool))
  if (tools.length < offered.size) refuseIfNeeded(body, tools.length)
  return tools.map(toolOf)
}

interface Change {
  readonly name: string
  readonly isRemoval?: boolean
  readonly definition?: JsonObject
}

function changesOf(messages: unknown): Change[] {
  return objectsOf(messages).flatMap((message) =>
    objectsOf(message.content).flatMap((block): Change[] => {
      if (block.type === 'tool_result') {
        const references = objectsOf(block.content).filter((inner) => inner.type === 'tool_reference')
        return references.map((reference) => ({ name: textOf(reference.tool_name) ?? '' }))
      }
      if (block.type !== 'tool_addition' && block.type !== 'tool_removal') return []
      const tool = fieldsOf(block.tool)
      if (tool.type === 'tool_definition')
        return [{ name: nameOf(fieldsOf(tool.definition)), definition: fieldsOf(tool.definition) }]
      return [{ name: nameOf(tool), isRemoval: block.type === 'tool_removal' }]
    }),
  )
}

const nameOf = (tool: JsonObject) => textOf(tool.name) ?? ''

/** Tools that Anthropic's own service runs. */
const servers = /^(web_search|web_fetch|code_execution|tool_search|mcp_toolset|advisor)/
const isServers = (tool: JsonObject) => servers.test(textOf(tool.type) ?? '')

/** One that is only offered beside others is not missed; one that the request is all about is. */
function refuseIfNeeded(body: JsonObject, left: number): void {
  const choice = fieldsOf(body.tool_choice)
  const lost = objectsOf(body.tools).find((tool) => isServers(tool) && (left === 0 || choice.name === tool.name))
  if (!lost) return
  throw new PawlError(
    'unsupported',
    `The tool "${nameOf(lost)}" is run by Anthropic's own service, and this model is not served there; use a model of Anthropic for it, or a tool of your own.`,
  )
}

function toolOf(tool: JsonObject): Tool {
  const schema = fieldsOf(tool.input_schema)
  if (tool.type !== undefined && tool.type !== 'custom' && tool.input_schema === undefined)
    throw new PawlError(
      'unsupported',
      `The tool "${nameOf(tool)}" is of the type "${String(tool.type)}", which only models of Anthropic know; offer it with an input schema.`,
    )
  return present({ name: nameOf(tool), description: textOf(tool.description), schema })
}
