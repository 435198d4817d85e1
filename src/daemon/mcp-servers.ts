import { adapterNamed, agentCodePaths } from '../agents/index.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { type Config, environmentOf, searchPath } from '../config/config.ts'
import { formatPath } from '../config/problems.ts'
import { defaultProfile, resolveProfile } from '../domain/profile/resolve.ts'
import { commonCodePaths } from '../domain/workspace/code-paths.ts'
import type { Secrets } from '../engine/auth/secrets.ts'
import { createServerHealth, type ServerHealth } from '../engine/mcp-servers/health.ts'
import { type LookParts, lookAt } from '../engine/mcp-servers/look.ts'
import { reachServer } from '../engine/mcp-servers/reach.ts'
import { revealer } from '../engine/mcp-servers/reveal.ts'
import type { SignIns } from '../engine/mcp-servers/sign-in.ts'
import { secretTokens } from '../engine/mcp-servers/tokens.ts'
import type { McpServerVerbParts } from '../operations/mcp-servers.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Database } from '../store/database.ts'
import type { TokenKeeper } from '../tools/servers/port.ts'
import type { MachineWalls } from './machine/sandbox.ts'

export interface ServersGround {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly redactor: Redactor
  readonly database: Database
  readonly secrets: Secrets
  readonly walls: MachineWalls
  readonly signal: AbortSignal
}

/** All about the user's servers of tools. What speaks their protocol is loaded when one is looked at. */
export interface Servers {
  readonly parts: McpServerVerbParts['mcp']
  readonly health: ServerHealth
  readonly tokens: TokenKeeper
  /** Looks at each of them, one after the other. */
  lookAtAll(): Promise<void>
}

export function createServers({ config, clock, log, redactor, database, secrets, walls, signal }: ServersGround): Servers {
  const health = createServerHealth({ db: database.db, clock, log, redact: redactor.value })
  const tokens = secretTokens(secrets)
  const look: Omit<LookParts, 'health'> = {
    home: config.home,
    clock,
    redactor,
    tokens,
    log,
    signal,
    path: searchPath(),
    environment: environmentOf,
    secretsFor: secrets.resolve,
    wallsFor: walls.choose,
    codePaths: [...commonCodePaths, ...agentCodePaths],
    look: async (...asked) => (await import('../tools/servers/look.ts')).lookAtServer(...asked),
  }
  const profile = () => resolveProfile(defaultProfile, config.profiles, { env: config.env })
  return {
    health,
    tokens,
    parts: {
      servers: config.mcpServers,
      // Of the others the programs know no servers, whatever they are offered.
      agents: config.agents.filter(({ adapter, options }) => adapterNamed(adapter, options).can.mcp),
      sourceOf: (name) => config.sources[formatPath(['mcpServers', name])] ?? null,
      health,
      look,
      signIns: signIns(),
    },
    async lookAtAll() {
      for (const [name, server] of Object.entries(config.mcpServers)) {
        if (signal.aborted) return
        await lookAt(name, server, profile(), 'start', { ...look, health })
      }
    },
  }

  function signIns(): SignIns {
    let made: Promise<SignIns> | undefined
    const load = () => {
      made ??= import('../tools/servers/sign-in.ts').then(({ createSignIns }) =>
        createSignIns({
          tokens,
          reach: (url, { others }) => reachServer(url, { others, profile: profile(), log, record: () => undefined }),
          reveal: revealer(
            { agent: '', user: '' },
            {
              environment: environmentOf,
              secretsFor: secrets.resolve,
              hide(all) {
                for (const { name, value } of all) redactor.add(name, value)
              },
            },
          ),
        }),
      )
      return made
    }
    return {
      begin: async (...asked) => (await load()).begin(...asked),
      finish: async (...asked) => (await load()).finish(...asked),
    }
  }
}
