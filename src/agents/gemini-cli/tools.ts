import { type Fields, fields, list, text } from '../fields.ts'
import { ownTools } from './rules.ts'

const ourServer = 'mcp_pawl_'

/** Where nobody sits at a terminal the program hides its own tool for questions, and with it every tool of that name. */
export const ourQuestion = 'ask_user=ask_person'

/** As rules and readers know it: the program joins the names of a server and its tool by one underscore. */
export function toolName(name: string): string {
  if (!name.startsWith(ourServer)) return name
  const own = name.slice(ourServer.length)
  return `mcp__pawl__${own === 'ask_person' ? 'ask_user' : own}`
}

/** Over ACP a call's id begins with the tool's name; what it is about stands in its title, or where its file is named. */
export function calledTool(call: Fields): { readonly name: string; readonly input: unknown } | undefined {
  const id = text(call.toolCallId) ?? ''
  const [server] = /^mcp_\w+?(?=__|-\d|$)/.exec(id) ?? []
  const name = ownTools.find((tool) => id.startsWith(`${tool}__`) || id.startsWith(`${tool}-`)) ?? server
  if (name === undefined) return undefined
  const title = text(call.title) ?? ''
  if (name === 'run_shell_command') return { name, input: { command: title } }
  const path = [...list(call.locations), ...list(call.content)].map((part) => text(fields(part)?.path)).find((part) => part)
  return { name: toolName(name), input: path === undefined ? { title } : { file_path: path } }
}
