import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { formatCost } from '../../../src/cli/text/format.ts'
import { messageOf } from '../../../src/domain/error.ts'
import type { NewTask, SessionView, TaskSummary } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { useKeptPlace } from '../data/kept-place.ts'
import { useOutgoing } from '../data/outgoing.ts'
import { useGrowing } from '../data/partial.ts'
import { pawl } from '../data/pawl.ts'
import { useTurns } from '../data/turns.ts'
import { showTitle } from '../drawn/page.ts'
import { ChatField } from '../parts/chat-field.tsx'
import { ChatTurn } from '../parts/chat-turn.tsx'
import { Shown } from '../parts/states.tsx'
import styles from './session.module.css'

/** One conversation with an agent, over all its tasks. */
export default function Session() {
  const { session } = useParams({ strict: false }) as { session: string }
  return session === 'new' ? <NewSession /> : <Existing key={session} id={session} />
}

/** It begins with the first message; nothing is made before. */
function NewSession() {
  const { agent, workspace } = useSearch({ strict: false }) as { agent?: string; workspace?: string }
  const navigate = useNavigate()
  const name = agent === undefined ? undefined : String(agent)
  const outgoing = useOutgoing(
    `new-${name ?? ''}`,
    ({ session }) => void navigate({ to: '/sessions/$session', params: { session }, replace: true }),
  )
  return (
    <div className={styles.screen}>
      <header className="stack">
        <h1>{name === undefined ? 'New conversation' : `New conversation with ${name}`}</h1>
        <p className="small faint">{workspace === undefined ? 'In an empty workspace of its own.' : <code>{workspace}</code>}</p>
      </header>
      <div className={styles.turns}>
        <Sent outgoing={outgoing} />
      </div>
      <ChatField
        conversation={`new-${name ?? ''}`}
        label={`Message to ${name ?? 'the default agent'}`}
        onSend={(written) =>
          outgoing.send({ ...written, agent: name, workspace: workspace === undefined ? undefined : String(workspace) })
        }
      />
    </div>
  )
}

function Existing({ id }: { id: string }) {
  const session = useQuery(asked.session(id))
  return <Shown asked={session}>{(found) => <Conversation session={found} />}</Shown>
}

function Conversation({ session }: { session: SessionView }) {
  const { id, agent } = session
  const [isFresh, setFresh] = useState(false)
  const { turns, ...past } = useTurns(session)
  const outgoing = useOutgoing(id, () => undefined)
  const title = session.title?.trim().split('\n')[0] || 'Session'
  useEffect(() => {
    showTitle(`${title} · Pawl`)
  }, [title])
  const running = session.tasks.find(({ state }) => state === 'running')
  const waits = session.tasks.find(({ state }) => state === 'blocked' || state === 'parked')
  const list = useRef<HTMLDivElement>(null)
  const [newest] = session.tasks
  const send = (written: Pick<NewTask, 'prompt' | 'attachments'>) => {
    const task: NewTask = { ...written, session: id, resetSession: isFresh || undefined }
    outgoing.send(task)
    setFresh(false)
  }
  return (
    <div className={styles.screen}>
      <Head session={session} title={title} running={running} />
      <div ref={list} className={styles.turns} role="log" aria-label="Conversation" aria-live="off">
        <h2 className="hidden-but-read">Conversation</h2>
        <Earlier past={past} count={turns.length} />
        {turns.map((task) => (
          <ChatTurn key={task.id} task={task} hasKeys={task.id === waits?.id || task.id === running?.id} />
        ))}
        <Sent outgoing={outgoing} />
        <End list={list} follows={`${newest?.id} ${newest?.state} ${outgoing.list.length}`} task={running?.id ?? ''} />
      </div>
      <ChatField
        conversation={id}
        label={`Message to ${agent}`}
        hint={running ? 'It is at work: your message comes next.' : undefined}
        isFresh={isFresh}
        onFresh={setFresh}
        onSend={send}
      />
    </div>
  )
}

/** Asked for as soon as it is in sight. */
function Earlier({ past, count }: { past: Omit<ReturnType<typeof useTurns>, 'turns'>; count: number }) {
  const top = useRef<HTMLButtonElement>(null)
  const { hasMore, isFetching, error, more } = past
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came may be too little to put it out of sight
  useEffect(() => {
    if (!top.current || isFetching || error) return
    const seen = new IntersectionObserver((told) => told.at(-1)?.isIntersecting && more())
    seen.observe(top.current)
    return () => seen.disconnect()
  }, [count, hasMore, isFetching, error])
  if (!hasMore) return null
  return (
    <>
      {error && <p role="alert">{messageOf(error)}</p>}
      <button ref={top} type="button" disabled={isFetching} onClick={more}>
        {isFetching ? 'Loading…' : 'Show earlier messages'}
      </button>
    </>
  )
}

function Head({ session, title, running }: { session: SessionView; title: string; running: TaskSummary | undefined }) {
  const stop = useMutation({ mutationFn: () => pawl.stopSession(session.id) })
  return (
    <header className={styles.head}>
      <h1 className="one-line">{title}</h1>
      <div className="row small faint">
        <span>{session.agent}</span>
        <code className={styles.path}>{session.workspace}</code>
        {session.costUsd !== null && <span>{formatCost(session.costUsd, undefined)}</span>}
        {running && (
          <button type="button" className="danger" disabled={stop.isPending} onClick={() => stop.mutate()}>
            {stop.isPending ? 'Stopping…' : 'Stop'}
          </button>
        )}
        {stop.isError && <span role="alert">{messageOf(stop.error)}</span>}
      </div>
    </header>
  )
}

/** What has left the field and is not known to have arrived. */
function Sent({ outgoing }: { outgoing: ReturnType<typeof useOutgoing> }) {
  return outgoing.list.map(({ key, task, refused }) => (
    <div key={key} className={styles.sent}>
      <p>{task.prompt}</p>
      {refused === undefined ? (
        <p className="small faint" role="status">
          {outgoing.isAway ? 'The daemon does not answer; it is sent as soon as it does.' : 'Sending…'}
        </p>
      ) : (
        <>
          <p role="alert" className={styles.refused}>
            {refused}
          </p>
          <div className="row">
            <button type="button" onClick={() => outgoing.sendAgain(key)}>
              Send it again
            </button>
            <button type="button" className="quiet" onClick={() => outgoing.forget(key)}>
              Drop it
            </button>
          </div>
        </>
      )}
    </div>
  ))
}

/** Apart, so that each word that comes draws nothing but this. */
function End({ list, follows, task }: { list: RefObject<HTMLElement | null>; follows: string; task: string }) {
  const end = useRef<HTMLDivElement>(null)
  const growing = useGrowing(task)
  useKeptPlace(list, end, `${follows} ${growing?.text.length}`)
  return <div ref={end} className={styles.end} />
}
