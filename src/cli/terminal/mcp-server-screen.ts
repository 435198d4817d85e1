import type { McpHealth, McpServerView } from '../../domain/agent/mcp-server.ts'
import { formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import type { Cli } from './cli.ts'

/** One server, line by line. */
export function showServer(cli: Cli, server: McpServerView): void {
  if (cli.globals.json) {
    cli.json(server)
    return
  }
  const { health } = server
  const rows: (readonly [string, string | null])[] = [
    ['server', server.name],
    [server.kind === 'stdio' ? 'command' : 'address', server.target],
    ['speaks', server.transport === 'sse' ? 'HTTP and SSE, the older way' : server.transport],
    ['from', server.source],
    ['agents', server.agents.join(', ') || 'none'],
    ['state', stateOf(health)],
    ['looked at', health.checkedAt === null ? null : `${formatTime(health.checkedAt)} (${by[health.checkedBy ?? 'test']})`],
    ['is', health.server === null ? null : `${health.server} ${health.version ?? ''}`],
    ['revision', health.protocol === null ? null : `${health.protocol} (${health.era})`],
    ['took', health.tookMs === null ? null : `${health.tookMs} ms`],
    ['error', health.error],
    [
      'last error',
      health.error === null && health.lastError !== null ? `${formatTime(health.failedAt!)}: ${health.lastError}` : null,
    ],
    ...(health.tools ?? []).map((tool, index) => [index === 0 ? 'tools' : '', `mcp__${server.name}__${tool}`] as const),
  ]
  for (const [key, value] of rows) if (value !== null) cli.out(`${key.padEnd(10)}  ${oneLine(value, 1_000)}`)
}

export const stateOf = ({ state, tools }: McpHealth): string =>
  state === 'reachable' ? `reachable, ${tools?.length ?? 0} ${tools?.length === 1 ? 'tool' : 'tools'}` : states[state]

const states = { reachable: 'reachable', failed: 'FAILED', sign_in: 'NEEDS SIGN-IN', unknown: 'not looked at yet' } as const
const by = { test: 'somebody asked', start: 'when the daemon started', run: 'by a run' } as const
