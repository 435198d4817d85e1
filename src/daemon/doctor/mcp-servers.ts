import { type Config, searchPath } from '../../config/config.ts'
import type { McpHealth, McpServer } from '../../domain/agent/mcp-server.ts'
import { messageOf } from '../../domain/error.ts'
import type { Finding, Found } from '../../domain/view/doctor.ts'
import { findProgram } from '../../sandbox/process/program.ts'
import { askDaemon } from './daemon.ts'

/** How the user's servers of tools were when somebody looked last. Nothing is started here: "pawl mcp-servers test" does that. */
export async function mcpServers(config: Config): Promise<Finding[]> {
  const servers = Object.entries(config.mcpServers)
  if (servers.length === 0) return []
  const views = await askDaemon(config, (client) => client.listMcpServers())
  return Promise.all(
    servers.map(async ([server, settings]) => {
      const seen = views?.find(({ name }) => name === server)?.health
      const found = await finding(config, server, settings, seen).catch(
        (error: unknown): Found => ({ level: 'fail', detail: messageOf(error), fix: `correct mcpServers.${server}` }),
      )
      return { name: `server ${server}`, ...found }
    }),
  )
}

async function finding(config: Config, server: string, settings: McpServer, seen: McpHealth | undefined): Promise<Found> {
  const tryIt = `pawl mcp-servers test ${server}`
  if (seen?.state === 'reachable')
    return { level: 'ok', detail: `${seen.server} ${seen.version}, ${seen.tools?.length ?? 0} tools (MCP ${seen.protocol})` }
  if (seen?.error) {
    const canSignIn = seen.state === 'sign_in' && settings.kind === 'http' && settings.oauth
    return { level: 'fail', detail: seen.error, fix: canSignIn ? `pawl mcp-servers sign-in ${server}` : tryIt }
  }
  if (settings.kind === 'stdio' && !settings.command.includes('${'))
    await findProgram(settings.command, { path: searchPath(), folder: config.home })
  return { level: 'ok', detail: `nobody has looked at it yet; "${tryIt}" does` }
}
