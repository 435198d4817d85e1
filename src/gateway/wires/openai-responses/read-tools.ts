import { fieldsOf } from '../../../domain/base/object.ts'
import { PawlError } from '../../../domain/error.ts'
import { objectsOf, present, textOf } from '../fields.ts'
import type { JsonObject, Tool, ToolChoice } from '../model-request.ts'
import { anyObject } from '../openai/models.ts'
import { searchSchema, shellSchema, textSchema } from '../tool-words.ts'
import { grouped } from './items.ts'

/** The tools that the client runs. Those of the service (`web_search` is offered by Codex with every request) are left out, unless one must be used. */
export function readTools(body: JsonObject): { tools: Tool[]; choice?: ToolChoice } {
  const offered = [
    ...objectsOf(body.tools),
    ...objectsOf(body.input)
      .filter(isAddition)
      .flatMap((item) => objectsOf(item.tools)),
  ]
  // Offered once, however often it was found.
  const tools = [...new Map(offered.flatMap((tool) => toolsOf(tool)).map((tool) => [tool.name, tool])).values()]
  const forced = textOf(fieldsOf(body.tool_choice).type)
  if (forced === 'local_shell') return { tools, choice: { name: 'local_shell' } }
  if (forced !== undefined && !['function', 'custom', 'allowed_tools'].includes(forced))
    throw new PawlError(
      'unsupported',
      `The tool "${forced}" is run by OpenAI's own service, and this model is not served there; use a model of OpenAI for it, or a tool of your own.`,
    )
  return { tools }
}

/** Codex offers the tools of some models in the conversation instead of beside it, and those that were searched for behind the search. */
export const isAddition = (item: JsonObject) => item.type === 'additional_tools' || isFound(item)
export const isFound = (item: JsonObject) => item.type === 'tool_search_output'

/** What a model is told of a search: the tools themselves are offered from then on. */
export function foundWords(item: JsonObject): string {
  const names = objectsOf(item.tools)
    .flatMap((tool) => toolsOf(tool))
    .map(({ name }) => name)
  return names.length === 0 ? 'No tool was found.' : `These tools are now offered: ${names.join(', ')}.`
}

function toolsOf(tool: JsonObject, group?: string): Tool[] {
  const own = textOf(tool.name) ?? ''
  const name = group === undefined ? own : grouped(group, own)
  const shared = { name, description: textOf(tool.description), group }
  switch (tool.type) {
    case 'function':
      return [present({ ...shared, schema: tool.parameters ? fieldsOf(tool.parameters) : anyObject })]
    case 'custom': {
      const format = fieldsOf(tool.format)
      return [
        present({
          ...shared,
          schema: textSchema,
          form: 'text' as const,
          grammar: format.type === 'grammar' ? format : undefined,
        }),
      ]
    }
    case 'local_shell':
      return [
        { name: 'local_shell', description: 'Runs a command in the shell of this machine.', schema: shellSchema, form: 'shell' },
      ]
    case 'tool_search':
      // One that the service does itself finds nothing here.
      if (tool.execution !== 'client') return []
      return [
        present({
          name: 'tool_search',
          description: shared.description,
          schema: tool.parameters ? fieldsOf(tool.parameters) : searchSchema,
          form: 'search' as const,
        }),
      ]
    case 'namespace':
      return objectsOf(tool.tools).flatMap((inner) => toolsOf(inner, own))
    default:
      return []
  }
}
