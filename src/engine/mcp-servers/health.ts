import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { McpHealth, McpServer } from '../../domain/agent/mcp-server.ts'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import { messageOf } from '../../domain/error.ts'
import type { Db } from '../../store/database.ts'
import { readHealth, writeHealth } from '../../store/mcp-health.ts'
import type { ServerFacts } from '../../tools/servers/port.ts'

type By = NonNullable<McpHealth['checkedBy']>
export type Reached = ServerFacts & { readonly tools: readonly string[]; readonly tookMs: number }

/** What is known of the user's servers, whoever saw it. Nobody waits for it to be stored. */
export interface ServerHealth {
  reached(name: string, server: McpServer, facts: Reached, by: By): void
  failed(name: string, server: McpServer, sentence: string, isSignIn: boolean, by: By): void
  /** All that was seen, when what was told before is stored. */
  all(): Promise<(name: string, server: McpServer) => McpHealth>
}

export const unknownHealth: McpHealth = {
  state: 'unknown',
  checkedAt: null,
  checkedBy: null,
  server: null,
  version: null,
  protocol: null,
  era: null,
  tools: null,
  tookMs: null,
  error: null,
  failedAt: null,
  lastError: null,
}

export function createServerHealth({
  db,
  clock,
  log,
  redact,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly redact: <T>(value: T) => T
}): ServerHealth {
  const writing = new Set<Promise<void>>()
  function store(name: string, server: McpServer, by: By, seen: Partial<McpHealth>): void {
    const at = new Date(clock.now())
    const health = redact({ ...unknownHealth, ...seen, checkedAt: at.toISOString(), checkedBy: by })
    const written = writeHealth(db, name, { digest: digestOf(server), health }, at).catch((error: unknown) =>
      log.warn('what was seen of a server of tools was not stored', { server: name, error: messageOf(error) }),
    )
    writing.add(written)
    void written.finally(() => writing.delete(written))
  }
  return {
    reached(name, server, { tools, ...facts }, by) {
      store(name, server, by, { state: 'reachable', ...facts, tools: tools.slice(0, mostTools) })
    },
    failed(name, server, sentence, isSignIn, by) {
      const at = new Date(clock.now()).toISOString()
      store(name, server, by, { state: isSignIn ? 'sign_in' : 'failed', error: sentence, failedAt: at, lastError: sentence })
    },
    async all() {
      await Promise.allSettled(writing)
      const known = await readHealth(db)
      return (name, server) => {
        const found = known.get(name)
        return found && found.digest === digestOf(server) ? found.health : unknownHealth
      }
    },
  }
}

const mostTools = 500
const digestOf = (server: McpServer) => createHash('sha256').update(canonicalJson(server)).digest('hex')
