import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { McpServerView } from '../../../src/domain/agent/mcp-server.ts'
import { messageOf } from '../../../src/domain/error.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { Badge } from '../parts/badge.tsx'
import { Shown } from '../parts/states.tsx'
import { Since } from '../parts/time.tsx'
import styles from './agents.module.css'

/** The user's own servers of tools: how each was when somebody looked last, and a button to look now. Nothing where there are none. */
export function McpServers() {
  const servers = useQuery(asked.mcpServers)
  if (servers.data?.length === 0) return null
  return (
    <section className="stack" aria-labelledby="mcp-servers">
      <h2 id="mcp-servers">Servers of tools</h2>
      <Shown asked={servers}>
        {(found) => (
          <ul className={styles.agents}>
            {found.map((server) => (
              <Server key={server.name} server={server} />
            ))}
          </ul>
        )}
      </Shown>
    </section>
  )
}

const states = {
  reachable: { tone: 'good', words: 'reachable' },
  failed: { tone: 'bad', words: 'failed' },
  sign_in: { tone: 'bad', words: 'needs sign-in' },
  unknown: { tone: 'faint', words: 'not looked at yet' },
} as const

function Server({ server }: { server: McpServerView }) {
  const { name, health } = server
  const queries = useQueryClient()
  const test = useMutation({
    mutationFn: () => pawl.testMcpServer(name),
    onSettled: () => queries.invalidateQueries({ queryKey: asked.mcpServers.queryKey }),
  })
  const { tone, words } = states[health.state]
  return (
    <li className="card stack">
      <div className="row">
        <h3>{name}</h3>
        <Badge tone={tone}>{words}</Badge>
      </div>
      <code className="small">{server.target}</code>
      <div className="row small faint">
        {health.server && (
          <span>
            {health.server} {health.version}
          </span>
        )}
        {health.protocol && (
          <span>
            MCP {health.protocol} ({health.era})
          </span>
        )}
        {health.checkedAt && (
          <span>
            looked at <Since at={health.checkedAt} />
          </span>
        )}
        <span>{server.agents.length === 0 ? 'offered to no agent' : `offered to ${server.agents.join(', ')}`}</span>
      </div>
      {health.error && <p className={styles.bad}>{health.error}</p>}
      {!health.error && health.lastError && health.failedAt && (
        <p className="small faint">
          failed <Since at={health.failedAt} />: {health.lastError}
        </p>
      )}
      {health.tools && health.tools.length > 0 && (
        <details>
          <summary>{health.tools.length === 1 ? 'one tool' : `${health.tools.length} tools`}</summary>
          <ul className={styles.can}>
            {health.tools.map((tool) => (
              <li key={tool}>
                <code>
                  mcp__{name}__{tool}
                </code>
              </li>
            ))}
          </ul>
        </details>
      )}
      <div className="row">
        <button type="button" className="quiet small" disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? 'Looking…' : 'Look now'}
          <span className="hidden-but-read"> at {name}</span>
        </button>
        {test.isError && <span role="alert">{messageOf(test.error)}</span>}
      </div>
    </li>
  )
}
