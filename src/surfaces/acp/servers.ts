import type { McpServer } from '@agentclientprotocol/sdk'
import { invalid } from '../../domain/error.ts'

/** The servers of tools that an editor names, as the settings of Pawl would. What we have not said that we can is refused. */
export function serverEntries(servers: readonly McpServer[]): Record<string, unknown> {
  const entries: Record<string, unknown> = {}
  for (const server of servers) {
    const name = nameOf(server.name)
    if (Object.hasOwn(entries, name))
      throw invalid(`Two MCP servers of the editor are called "${name}" here; give one of them another name.`)
    entries[name] = entryOf(server)
  }
  return entries
}

/** Editors let people call a server as they like; tools are called after it, so it keeps letters, digits, - and _. */
const nameOf = (name: string) =>
  name
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^[-_]+|-+$/g, '')

function entryOf(server: McpServer): unknown {
  const kind = 'type' in server ? server.type : 'stdio'
  if ('command' in server) return { command: server.command, args: server.args, env: record(server.env) }
  if (kind === 'http' && 'url' in server) return { type: 'http', url: server.url, headers: record(server.headers) }
  throw invalid(
    `The MCP server "${server.name}" is of the kind "${kind}"; an editor can give Pawl those that are started (stdio) and those that are reached by HTTP. Name it in Pawl's settings, or leave it out.`,
  )
}

const record = (pairs: readonly { name: string; value: string }[]) =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
