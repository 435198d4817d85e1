import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { abilityWords } from '../../../src/domain/agent/abilities.ts'
import { messageOf } from '../../../src/domain/error.ts'
import type { AgentRecord } from '../../../src/domain/run/health.ts'
import { isEnded } from '../../../src/domain/task/task.ts'
import type { LimitView } from '../../../src/domain/view/limit.ts'
import type { AgentView, TaskSummary } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { Badge } from '../parts/badge.tsx'
import { Copied } from '../parts/copied.tsx'
import { Shown } from '../parts/states.tsx'
import { Countdown } from '../parts/time.tsx'
import { Wide } from '../parts/wide.tsx'
import styles from './agents.module.css'
import { McpServers } from './mcp-servers.tsx'

/** Which agents there are, whether each can work, and what keeps it from it. */
export default function Agents() {
  const agents = useQuery(asked.agents)
  const limits = useQuery(asked.limits)
  const recent = useQuery(asked.tasks({ limit: recentTasks }))
  const health = useQuery(asked.health)
  const queued = useQuery(asked.tasks({ states: ['queued'], limit: mostQueued }))
  const figuresOf = (name: string): Figures => ({
    queued: queued.data?.items.filter(({ agent }) => agent === name).length,
    record: health.data?.agents.find(({ agent }) => agent === name),
    limit: limits.data?.find(({ agents }) => agents.includes(name)),
    ended: recent.data?.items.filter(({ agent, state }) => agent === name && isEnded(state) && state !== 'cancelled'),
  })
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
                  <Agent key={agent.name} agent={agent} figures={figuresOf(agent.name)} />
                ))}
              </ul>
              {rest.length > 0 && <NotInstalled agents={rest} />}
            </>
          )
        }}
      </Shown>
      <McpServers />
    </div>
  )
}

/** Of all agents together: what is older says little about today. */
const recentTasks = 200
const mostQueued = 200

interface Figures {
  readonly queued: number | undefined
  readonly limit: LimitView | undefined
  readonly record: AgentRecord | undefined
  /** The recent ones, cancelled ones left out: they say nothing about the agent. */
  readonly ended: readonly TaskSummary[] | undefined
}

function Agent({ agent, figures }: { agent: AgentView; figures: Figures }) {
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
        {health.version && <Version agent={agent} />}
        {agent.model && <span>{agent.model}</span>}
        <span>profile {agent.profile}</span>
        {health.loggedIn !== null && <span>{health.loggedIn ? 'logged in' : 'not logged in'}</span>}
      </div>
      {!health.healthy && <p>{health.detail}</p>}
      {!health.healthy && health.fix && <code>{health.fix}</code>}
      {health.warning && <p className={styles.warning}>{health.warning}</p>}
      <Recent name={agent.name} figures={figures} />
      <div className="row">
        {health.healthy && (
          <Link to="/sessions/$session" params={{ session: 'new' }} search={{ agent: agent.name } as never} className="button">
            Chat<span className="hidden-but-read"> with {agent.name}</span>
          </Link>
        )}
        <button type="button" className="quiet small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'What it can'}
        </button>
      </div>
      {isOpen && (
        <ul className={styles.can}>
          {agent.can.map((ability) => (
            <li key={ability}>{(abilityWords as Record<string, string>)[ability] ?? ability}</li>
          ))}
          {agent.can.length === 0 && <li>runs a prompt and gives its answer</li>}
        </ul>
      )}
      {isOpen && <Address name={agent.name} />}
    </li>
  )
}

/** How other agents reach it. Where A2A is not spoken there is no card, and nothing is said. */
function Address({ name }: { name: string }) {
  const { data } = useQuery(asked.card(name))
  const at = data?.supportedInterfaces[0]?.url
  if (at === undefined) return null
  return (
    <p className="small">
      Other agents reach it by A2A at <Copied text={at} name={`the A2A address of ${name}`} />
    </p>
  )
}

const rangeOf = ({ from, to }: { from: string; to: string }) => (from === to ? from : `${from} to ${to}`)

/** Beside those that Pawl was tried with, which may be older or newer. */
function Version({ agent: { health, tried, isOurs } }: { agent: AgentView }) {
  const range = isOurs ? undefined : tried ? `tried with ${rangeOf(tried)}` : 'untried'
  return (
    <span>
      {health.version}
      {range && ` (${range})`}
    </span>
  )
}

/** How its last tasks went, what waits for it, and until when it may not. */
function Recent({ name, figures: { queued, limit, ended, record } }: { name: string; figures: Figures }) {
  const failed = ended?.filter(({ state }) => state !== 'completed') ?? []
  const short = ended?.filter(({ shortfall }) => shortfall !== undefined) ?? []
  return (
    <div className="row small">
      {record && !record.healthy && (
        <p className={styles.bad}>
          {record.failedInARow} of its runs failed, one after the other: {record.detail}{' '}
          <Link to="/tasks/$task" params={{ task: record.lastTask }}>
            the last one
          </Link>
          {record.todo && `; ${record.todo}`}
        </p>
      )}
      {ended && ended.length > 0 && (
        <span className={failed.length * 2 > ended.length ? styles.bad : 'faint'}>
          {failed.length > 0
            ? `${failed.length} of the last ${ended.length} failed (${Math.round((100 * failed.length) / ended.length)} %)`
            : short.length > 0
              ? `${short.length} of the last ${ended.length} did only a part, or said nothing`
              : `the last ${ended.length} went well`}
        </span>
      )}
      {ended?.length === 0 && <span className="faint">no recent tasks</span>}
      {queued !== undefined && queued > 0 && (
        <Link to="/tasks" search={{ agent: name, state: 'queued' } as never}>
          {queued >= mostQueued ? `${queued} or more wait` : queued === 1 ? 'one waits' : `${queued} wait`}
        </Link>
      )}
      {limit && (
        <span className={styles.warning}>
          at a limit, goes on in <Countdown to={limit.until} />
        </span>
      )}
    </div>
  )
}

function NotInstalled({ agents }: { agents: readonly AgentView[] }) {
  return (
    <section className="stack" aria-labelledby="not-installed">
      <h2 id="not-installed">Not installed</h2>
      <Wide label="Table of agents" className="card">
        <table className="folds">
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
                <td className="faint" data-head="Tried with">
                  {tried ? rangeOf(tried) : 'untried'}
                </td>
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
