import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { formatCost } from '../../../src/cli/text/format.ts'
import type { SessionSummary } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { Badge, StateBadge } from '../parts/badge.tsx'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { Since } from '../parts/time.tsx'
import styles from './sessions.module.css'

/** All conversations with agents, those that changed last first, and the way to a new one. */
export default function Sessions() {
  const { agent: wanted } = useSearch({ strict: false }) as { agent?: string }
  const agent = wanted === undefined ? undefined : String(wanted)
  const navigate = useNavigate()
  const agents = useQuery(asked.agents)
  return (
    <div className="stack">
      <h1>Sessions</h1>
      <NewConversation names={agents.data?.filter(({ health }) => health.healthy).map(({ name }) => name) ?? []} />
      <label className={styles.filter}>
        <span>Of which agent</span>
        <select
          value={agent ?? ''}
          onChange={(event) =>
            void navigate({
              to: '/sessions',
              search: (event.target.value ? { agent: event.target.value } : {}) as never,
              replace: true,
            })
          }
        >
          <option value="">all</option>
          {[...new Set([...(agent ? [agent] : []), ...(agents.data?.map(({ name }) => name) ?? [])])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <List agent={agent} />
    </div>
  )
}

function NewConversation({ names }: { names: readonly string[] }) {
  const [agent, setAgent] = useState('')
  const [workspace, setWorkspace] = useState('')
  const navigate = useNavigate()
  const begin = (event: FormEvent) => {
    event.preventDefault()
    const search = { ...(agent ? { agent } : {}), ...(workspace.trim() ? { workspace: workspace.trim() } : {}) }
    void navigate({ to: '/sessions/$session', params: { session: 'new' }, search: search as never })
  }
  return (
    <form className={`card ${styles.begin}`} onSubmit={begin}>
      <label>
        <span>Agent</span>
        <select value={agent} onChange={(event) => setAgent(event.target.value)}>
          <option value="">the default one</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        <span>Workspace, an absolute path; empty: one of its own</span>
        <input autoComplete="off" value={workspace} onChange={(event) => setWorkspace(event.target.value)} />
      </label>
      <button type="submit" className="primary">
        Chat
      </button>
    </form>
  )
}

function List({ agent }: { agent: string | undefined }) {
  const pages = useInfiniteQuery({
    queryKey: ['tasks', 'sessions', 'pages', agent],
    queryFn: ({ pageParam }) => pawl.listSessions({ agent, limit: 50, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (before) => before,
  })
  const sessions = pages.data?.pages.flatMap(({ items }) => items) ?? []
  if (pages.isError && sessions.length === 0) return <Failure error={pages.error} again={() => void pages.refetch()} />
  if (pages.isPending) return <Loading />
  if (sessions.length === 0) return <Empty title="There is no session yet." />
  const newest = sessions.toSorted((a, b) => Number(b.openQuestions > 0) - Number(a.openQuestions > 0) || byChange(a, b))
  return (
    <>
      <ul className={`card lines ${styles.list}`}>
        {newest.map((session) => (
          <li key={session.id}>
            <Line session={session} />
          </li>
        ))}
      </ul>
      {pages.hasNextPage && (
        <button type="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  )
}

const byChange = (a: SessionSummary, b: SessionSummary) => b.updatedAt.localeCompare(a.updatedAt)

function Line({ session }: { session: SessionSummary }) {
  const { id, title, agent, workspace, lastTask, openQuestions, taskCount, costUsd } = session
  return (
    <Link to="/sessions/$session" params={{ session: id }} className={styles.line}>
      <span className={styles.title}>
        <span className="one-line">{title?.trim().split('\n')[0] || id}</span>
        {openQuestions > 0 ? (
          <Badge tone="ask">{openQuestions === 1 ? 'waits for your answer' : `${openQuestions} questions wait`}</Badge>
        ) : (
          lastTask && <StateBadge task={lastTask} />
        )}
      </span>
      <span className={`small faint ${styles.facts}`}>
        <span>{agent}</span>
        <span className="one-line">{workspace}</span>
        <span className={styles.figures}>
          <span>{taskCount === 1 ? '1 message' : `${taskCount} messages`}</span>
          {costUsd !== null && <span>{formatCost(costUsd, undefined)}</span>}
          <span>
            <Since at={session.updatedAt} />
          </span>
        </span>
      </span>
    </Link>
  )
}
