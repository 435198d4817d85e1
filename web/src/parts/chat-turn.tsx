import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCost } from '../../../src/cli/text/format.ts'
import { messageOf } from '../../../src/domain/error.ts'
import { isEnded } from '../../../src/domain/task/task.ts'
import type { TaskSummary, TaskView } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { type Item, Timeline } from '../data/timeline.ts'
import { useTimeline } from '../data/use-timeline.ts'
import { StateBadge } from './badge.tsx'
import { ChatItem, isSaid } from './chat-item.tsx'
import styles from './chat-turn.module.css'
import { Growing } from './growing.tsx'
import { Markdown } from './markdown.tsx'
import { QuestionBox } from './question-box.tsx'
import { Countdown, Since } from './time.tsx'

/** One task of a session as a turn of its conversation: what was asked, what the agent did and said, what it cost. */
export function ChatTurn({ task, hasKeys }: { task: TaskSummary; hasKeys: boolean }) {
  const isLive = task.state === 'running' || task.state === 'blocked' || task.state === 'parked'
  // A list has only the beginning of long texts, and no questions.
  const isCut = task.prompt.length >= 200 || (task.result?.text.length ?? 0) >= 500
  const whole = useQuery({ ...asked.task(task.id), enabled: isLive || isCut })
  const shown = whole.data ?? task
  return (
    <article className={styles.turn} aria-label={`Message: ${shown.prompt.slice(0, 80)}`}>
      <div className={styles.mine}>
        <Prompt text={shown.prompt} />
        <p className="small faint">
          <Since at={task.createdAt} />
        </p>
      </div>
      <div className={styles.theirs}>
        {task.state === 'queued' ? <Waiting task={task} /> : isLive ? <Live task={shown} /> : <Ended task={shown} />}
        {whole.data?.questions
          .filter(({ state }) => state === 'pending')
          .map((question, n) => (
            <QuestionBox key={question.id} question={question} hasKeys={hasKeys && n === 0} />
          ))}
      </div>
    </article>
  )
}

const mostOfPrompt = 1_500

function Prompt({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false)
  const isLong = text.length > mostOfPrompt
  return (
    <>
      <p className={styles.prompt}>{isLong && !isOpen ? `${text.slice(0, mostOfPrompt)}…` : text}</p>
      {isLong && (
        <button type="button" className={`quiet small ${styles.link}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all of it'}
        </button>
      )}
    </>
  )
}

/** Not begun: it may still be taken back. */
function Waiting({ task }: { task: TaskSummary }) {
  const cancel = useMutation({ mutationFn: () => pawl.cancelTask(task.id) })
  return (
    <div className="row small">
      <StateBadge task={task} />
      <span className="faint">{task.reason?.detail ?? 'comes next'}</span>
      <button type="button" className="quiet" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
        Take it back
      </button>
      {cancel.isError && <span role="alert">{messageOf(cancel.error)}</span>}
    </div>
  )
}

/** While it goes on: everything as it comes. */
function Live({ task }: { task: TaskSummary }) {
  const { items, isAway } = useTimeline(task.id)
  return (
    <>
      <Items items={items.filter(isSaid)} />
      <Growing task={task.id} />
      <div className="row small faint">
        <StateBadge task={task} />
        {task.state === 'running' && <span className="one-line">{task.current ?? 'starting'}</span>}
        {task.state === 'parked' && task.resumeAt && (
          <span>
            goes on in <Countdown to={task.resumeAt} />
          </span>
        )}
        {isAway && <span role="status">the daemon does not answer</span>}
      </div>
    </>
  )
}

function Ended({ task }: { task: TaskSummary | TaskView }) {
  const [isOpen, setOpen] = useState(false)
  const retry = useMutation({ mutationFn: () => pawl.retryTask(task.id) })
  const { result, reason } = task
  const isGood = (task.state === 'completed' && task.shortfall === undefined) || task.state === 'review'
  return (
    <>
      {isOpen && <Past task={task.id} />}
      {!isOpen && result?.text && <Markdown text={result.text} />}
      {!isGood && (
        <div className="row">
          <StateBadge task={task} />
          {reason && reason.kind !== task.state && <span>{reason.detail ?? reason.kind.replaceAll('_', ' ')}</span>}
          {isEnded(task.state) && (
            <button type="button" disabled={retry.isPending} onClick={() => retry.mutate()}>
              Try again
            </button>
          )}
          {retry.isError && <span role="alert">{messageOf(retry.error)}</span>}
        </div>
      )}
      <div className="row small faint">
        {task.state === 'review' && <StateBadge task={task} />}
        {result?.costUsd != null && <span>{formatCost(result.costUsd, result.costKnown)}</span>}
        <button type="button" className={`quiet ${styles.link}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Only the answer' : 'What it did'}
        </button>
        <Link to="/tasks/$task" params={{ task: task.id }}>
          The task
        </Link>
      </div>
    </>
  )
}

function Past({ task }: { task: string }) {
  const events = useQuery(asked.events(task))
  if (!events.data) return <p className="faint">{events.isError ? messageOf(events.error) : 'Loading…'}</p>
  const timeline = new Timeline()
  timeline.add(events.data.items)
  return <Items items={timeline.items.filter(isSaid)} />
}

const Items = ({ items }: { items: readonly Item[] }) => items.map((item) => <ChatItem key={item.event.seq} item={item} />)
