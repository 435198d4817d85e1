import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { abilityWords } from '../../../src/domain/abilities.ts'
import { messageOf } from '../../../src/domain/error.ts'
import type { LimitView } from '../../../src/domain/limit-view.ts'
import type { AgentView } from '../../../src/domain/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { Badge } from '../parts/badge.tsx'
import { Shown } from '../parts/states.tsx'
import { Countdown } from '../parts/time.tsx'
import { Wide } from '../parts/wide.tsx'
import styles from './agents.module.css'

/** Which agents there are, whether each can work, and what keeps it from it. */
export default function Agents() {
  const agents = useQuery(asked.agents)
  const limits = useQuery(asked.limits)
  return (
    <div className="stack">
      <h1>Agents</h1>
      {limits.data && limits.data.length > 0 && <Limits limits={limits.data} />}
      <Shown asked={agents}>
        {(found) => {
          const here = found.filter(({ health, source, isDefault }) => health.installed || isDefault || source !== 'builtin')
          const rest = found.filter((agent) => !here.includes(agent))
          return (
            <>
              <ul className={styles.agents}>
                {here.map((agent) => (
                  <Agent key={agent.name} agent={agent} />
                ))}
              </ul>
              {rest.length > 0 && <NotInstalled agents={rest} />}
            </>
          )
        }}
      </Shown>
    </div>
  )
}

function Agent({ agent }: { agent: AgentView }) {
  const { health } = agent
  const [isOpen, setOpen] = useState(false)
  return (
    <li className="card stack">
      <div className="row">
        <h2>{agent.name}</h2>
        <Badge tone={health.healthy ? 'good' : health.installed ? 'bad' : 'faint'}>
          {health.healthy ? 'can work' : health.installed ? 'cannot work' : 'not installed'}
        </Badge>
        {agent.isDefault && <Badge tone="wait">default</Badge>}
      </div>
      <div className="row small faint">
        <span>{agent.title}</span>
        {health.version && <span>{health.version}</span>}
        {agent.model && <span>{agent.model}</span>}
        <span>profile {agent.profile}</span>
        {health.loggedIn !== null && <span>{health.loggedIn ? 'logged in' : 'not logged in'}</span>}
      </div>
      {!health.healthy && <p>{health.detail}</p>}
      {!health.healthy && health.fix && <code>{health.fix}</code>}
      {health.warning && <p className={styles.warning}>{health.warning}</p>}
      <button type="button" className="quiet small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Show less' : 'What it can'}
      </button>
      {isOpen && (
        <ul className={styles.can}>
          {agent.can.map((ability) => (
            <li key={ability}>{(abilityWords as Record<string, string>)[ability] ?? ability}</li>
          ))}
          {agent.can.length === 0 && <li>runs a prompt and gives its answer</li>}
        </ul>
      )}
    </li>
  )
}

function NotInstalled({ agents }: { agents: readonly AgentView[] }) {
  return (
    <section className="stack" aria-labelledby="not-installed">
      <h2 id="not-installed">Not installed</h2>
      <Wide label="Table of agents" className="card">
        <table>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">How to install it</th>
              <th scope="col">Tried with</th>
            </tr>
          </thead>
          <tbody>
            {agents.map(({ name, title, install, tried }) => (
              <tr key={name}>
                <td>
                  {name} <span className="faint">{title}</span>
                </td>
                <td>{install && <code>{install}</code>}</td>
                <td className="faint">{tried ? `${tried.from} to ${tried.to}` : 'untried'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  )
}

function Limits({ limits }: { limits: readonly LimitView[] }) {
  return (
    <section className="stack" aria-labelledby="limits">
      <h2 id="limits">At a limit</h2>
      {limits.map((limit) => (
        <Limit key={`${limit.account} ${limit.kind}`} limit={limit} />
      ))}
    </section>
  )
}

function Limit({ limit }: { limit: LimitView }) {
  const clear = useMutation({ mutationFn: () => pawl.clearLimits(limit.agents[0]!) })
  return (
    <div className={`card stack ${styles.limit}`}>
      <div className="row">
        <strong>{limit.agents.join(', ') || limit.account}</strong>
        <span>{limit.kind.replaceAll('_', ' ')}</span>
        <span>
          goes on in <Countdown to={limit.until} />
        </span>
        <span className="faint">{limit.waiting === 1 ? 'one task waits' : `${limit.waiting} tasks wait`}</span>
      </div>
      <p className="small faint">{limit.why}</p>
      {limit.agents.length > 0 && (
        <div className="row">
          <button type="button" disabled={clear.isPending} onClick={() => clear.mutate()}>
            Forget this limit
          </button>
          {clear.isError && <span role="alert">{messageOf(clear.error)}</span>}
        </div>
      )}
    </div>
  )
}
