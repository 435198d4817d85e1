import { asObject, type Fields } from '../../domain/base/object.ts'
import { joinedName } from '../shared/door-servers.ts'
import { list, text } from '../shared/fields.ts'
import { ownTools } from './rules.ts'

/** Where nobody sits at a terminal the program hides its own tool for questions, and with it every tool of that name. */
export const ourQuestion = 'ask_user=ask_person'

/** As rules and readers know it: the program joins the names of a server and its tool by one underscore. */
export function toolName(name: string, servers: readonly string[] = []): string {
  const joined = joinedName(name, servers, 'mcp_')
  return joined === 'mcp__pawl__ask_person' ? 'mcp__pawl__ask_user' : (joined ?? name)
}

/** Over ACP a call's id begins with the tool's name; what it is about stands in its title, or where its file is named. */
export function calledTool(
  call: Fields,
  servers: readonly string[] = [],
): { readonly name: string; readonly input: unknown } | undefined {
  const id = text(call.toolCallId) ?? ''
  const [server] = /^mcp_[\w-]+?(?=__|-\d{6,}|$)/.exec(id) ?? []
  const name = ownTools.find((tool) => id.startsWith(`${tool}__`) || id.startsWith(`${tool}-`)) ?? server
  if (name === undefined) return undefined
  const title = text(call.title) ?? ''
  if (name === 'run_shell_command') return { name, input: { command: title } }
  const path = [...list(call.locations), ...list(call.content)].map((part) => text(asObject(part)?.path)).find((part) => part)
  return { name: toolName(name, servers), input: path === undefined ? { title } : { file_path: path } }
}
