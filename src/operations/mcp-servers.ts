import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { type McpServer, type McpServers, type McpServerView, targetOf } from '../domain/agent/mcp-server.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import { notFound } from '../domain/error.ts'
import { resolveProfile } from '../domain/profile/resolve.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { ServerHealth } from '../engine/mcp-servers/health.ts'
import { type LookParts, lookAt } from '../engine/mcp-servers/look.ts'
import type { SignIns } from '../engine/mcp-servers/sign-in.ts'
import type { ProfileVerbParts } from './profiles.ts'

/** The user's servers of tools, and how they are. */
export interface McpServerVerbs {
  listMcpServers(): Promise<McpServerView[]>
  getMcpServer(name: string): Promise<McpServerView>
  /** Starts or reaches it now, as a run with that profile would, and answers what was seen. */
  testMcpServer(name: string, options?: { readonly profile?: string | undefined }): Promise<McpServerView>
  /** Where a person signs in, so that Pawl is let in from then on. The browser is sent back to `redirectUrl`. */
  beginMcpSignIn(name: string, redirectUrl: string): Promise<{ readonly url: string }>
  /** What the browser brought back, as the query of the address that it was sent to. */
  finishMcpSignIn(name: string, query: string): Promise<McpServerView>
}

export interface McpServerVerbParts extends Pick<ProfileVerbParts, 'profiles' | 'ground'> {
  readonly mcp: {
    readonly servers: McpServers
    readonly agents: readonly Pick<ResolvedAgent, 'name' | 'mcpServers'>[]
    /** The file and line that say it. */
    sourceOf(name: string): string | null
    readonly health: ServerHealth
    readonly look: Omit<LookParts, 'health'>
    readonly signIns: SignIns
  }
}

export function mcpServerVerbs({ mcp, profiles, ground }: McpServerVerbParts): McpServerVerbs {
  const found = (name: string): McpServer => {
    const server = Object.hasOwn(mcp.servers, name) ? mcp.servers[name] : undefined
    if (server) return server
    const known = Object.keys(mcp.servers)
    throw notFound(
      known.length === 0
        ? `There is no server of tools "${name}": none is set. Add one: pawl mcp-servers add`
        : `There is no server of tools "${name}"${didYouMean(name, known)}`,
    )
  }
  const view = (name: string, server: McpServer, healthOf: Awaited<ReturnType<ServerHealth['all']>>): McpServerView => ({
    name,
    kind: server.kind,
    target: targetOf(server),
    transport: server.kind === 'stdio' ? 'stdio' : server.transport,
    source: mcp.sourceOf(name),
    agents: mcp.agents.filter(({ mcpServers = {} }) => Object.hasOwn(mcpServers, name)).map((agent) => agent.name),
    signsIn: server.kind === 'http' && server.oauth !== undefined,
    health: healthOf(name, server),
  })
  const one = async (name: string) => view(name, found(name), await translateDbErrors(() => mcp.health.all()))
  const profileOf = (profile = 'guarded') => resolveProfile(profile, profiles, ground)
  return {
    async listMcpServers() {
      const healthOf = await translateDbErrors(() => mcp.health.all())
      return Object.entries(mcp.servers).map(([name, server]) => view(name, server, healthOf))
    },
    getMcpServer: one,
    async testMcpServer(name, { profile } = {}) {
      const server = found(name)
      await lookAt(name, server, profileOf(profile), 'test', { ...mcp.look, health: mcp.health })
      return one(name)
    },
    beginMcpSignIn: async (name, redirectUrl) => mcp.signIns.begin(name, found(name), redirectUrl),
    async finishMcpSignIn(name, query) {
      const server = found(name)
      await mcp.signIns.finish(name, query)
      await lookAt(name, server, profileOf(), 'test', { ...mcp.look, health: mcp.health })
      return one(name)
    },
  }
}
