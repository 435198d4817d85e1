import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { formatCost, formatElapsed } from '../../../src/cli/format.ts'
import { messageOf } from '../../../src/domain/error.ts'
import { isEnded } from '../../../src/domain/task/task.ts'
import type { TaskView } from '../../../src/domain/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { StateBadge } from '../parts/badge.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { QuestionBox } from '../parts/question-box.tsx'
import { Shown } from '../parts/states.tsx'
import { titleOf } from '../parts/task-line.tsx'
import { Ago, Countdown } from '../parts/time.tsx'
import { TimelineView } from '../parts/timeline-view.tsx'
import { Wide } from '../parts/wide.tsx'
import styles from './task.module.css'

/** One task: what it is about, what it needs, and all that happened to it. */
export default function Task() {
  const { task: id } = useParams({ strict: false }) as { task: string }
  const task = useQuery(asked.task(id))
  return <Shown asked={task}>{(found) => <Body key={found.id} task={found} />}</Shown>
}

function Body({ task }: { task: TaskView }) {
  const title = titleOf(task)
  useEffect(() => {
    document.title = `${title} · Pawl`
  }, [title])
  const pending = task.questions.filter(({ state }) => state === 'pending')
  return (
    <div className={styles.screen}>
      <header className="stack">
        <div className="row">
          <h1 className={styles.title}>{title}</h1>
          <StateBadge state={task.state} />
        </div>
        <Facts task={task} />
        <Actions task={task} />
      </header>
      {pending.map((question, n) => (
        <QuestionBox key={question.id} question={question} hasKeys={n === 0} />
      ))}
      {task.state === 'review' && <Review task={task} />}
      {task.result?.text && (
        <section className="card stack" aria-labelledby="answer">
          <h2 id="answer">Answer</h2>
          <Markdown text={task.result.text} />
        </section>
      )}
      <section aria-labelledby="timeline" className="stack">
        <h2 id="timeline">What happened</h2>
        <TimelineView task={task.id} />
      </section>
      <aside className={`stack ${styles.aside}`}>
        <Prompt task={task} />
        <Runs task={task} />
        <Relations task={task} />
      </aside>
    </div>
  )
}

function Facts({ task }: { task: TaskView }) {
  const { reason, resumeAt, cost } = task
  return (
    <div className="stack">
      {reason && reason.kind !== 'question' && <p>{reason.detail ?? reason.kind.replaceAll('_', ' ')}</p>}
      {resumeAt && task.state === 'parked' && (
        <p>
          Goes on in <Countdown to={resumeAt} />
        </p>
      )}
      {task.current && task.state === 'running' && <p className="one-line">{task.current}</p>}
      <div className="row small faint">
        <span>{task.agent}</span>
        <span>
          changed <Ago at={task.updatedAt} /> ago
        </span>
        {cost.usd !== null && <span>{formatCost(cost.usd, cost.known)}</span>}
        {task.settings.budget.usd !== undefined && <span>of at most ${task.settings.budget.usd}</span>}
        <span>{task.proof === 'verified' ? 'verified by checks' : task.proof === 'reported' ? 'not verified' : ''}</span>
        <code className={styles.path}>{task.workspace}</code>
      </div>
    </div>
  )
}

function Actions({ task }: { task: TaskView }) {
  const [isSure, setSure] = useState(false)
  const cancel = useMutation({ mutationFn: () => pawl.cancelTask(task.id), onSuccess: () => setSure(false) })
  const retry = useMutation({ mutationFn: (fresh: boolean) => pawl.retryTask(task.id, { fresh }) })
  const wake = useMutation({ mutationFn: () => pawl.wakeTask(task.id) })
  const failed = [cancel, retry, wake].find(({ isError }) => isError)
  return (
    <div className="row">
      {!isEnded(task.state) &&
        (isSure ? (
          <>
            <span>Stop this task?</span>
            <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
              {cancel.isPending ? 'Stopping…' : 'Stop it'}
            </button>
            <button type="button" onClick={() => setSure(false)}>
              Let it be
            </button>
          </>
        ) : (
          <button type="button" onClick={() => setSure(true)}>
            Cancel
          </button>
        ))}
      {task.state === 'parked' && (
        <button type="button" disabled={wake.isPending} onClick={() => wake.mutate()}>
          Go on now
        </button>
      )}
      {isEnded(task.state) && (
        <>
          <button type="button" disabled={retry.isPending} onClick={() => retry.mutate(false)}>
            Try again
          </button>
          <button type="button" disabled={retry.isPending} onClick={() => retry.mutate(true)}>
            Try again, new conversation
          </button>
        </>
      )}
      {failed && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </div>
  )
}

function Review({ task }: { task: TaskView }) {
  const [comment, setComment] = useState('')
  const accept = useMutation({ mutationFn: () => pawl.acceptTask(task.id) })
  const reject = useMutation({ mutationFn: () => pawl.rejectTask(task.id, { comment }) })
  const failed = [accept, reject].find(({ isError }) => isError)
  return (
    <section className={`card stack ${styles.review}`} aria-labelledby="review">
      <h2 id="review">Is the work good?</h2>
      <label>
        <span>What is to be changed</span>
        <textarea rows={2} value={comment} onChange={(event) => setComment(event.target.value)} />
      </label>
      <div className="row">
        <button type="button" className="primary" disabled={accept.isPending} onClick={() => accept.mutate()}>
          Accept
        </button>
        <button type="button" disabled={comment.trim() === '' || reject.isPending} onClick={() => reject.mutate()}>
          Send back
        </button>
      </div>
      {failed && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </section>
  )
}

function Prompt({ task }: { task: TaskView }) {
  return (
    <section className="card stack" aria-labelledby="prompt">
      <h2 id="prompt">Prompt</h2>
      <p className={styles.prompt}>{task.prompt}</p>
    </section>
  )
}

function Runs({ task }: { task: TaskView }) {
  if (task.runs.length === 0) return null
  return (
    <section className="card stack" aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      <Wide label="Table of runs">
        <table>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">How it ended</th>
              <th scope="col">Walls</th>
              <th scope="col" className="number">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {task.runs.map((run) => (
              <tr key={run.id}>
                <td>{run.attempt}</td>
                <td>
                  {run.outcome?.replaceAll('_', ' ') ?? run.state}
                  {run.message && <span className="faint"> {run.message}</span>}
                </td>
                <td>{run.walls === null ? '' : run.enforced ? run.walls : `${run.walls}, not enforced`}</td>
                <td className="number">
                  {run.startedAt && run.endedAt ? formatElapsed(Date.parse(run.endedAt) - Date.parse(run.startedAt)) : ''}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  )
}

function Relations({ task }: { task: TaskView }) {
  const others = [
    ...task.dependsOn.map((one) => ({ ...one, as: 'waits for' })),
    ...task.subtasks.map((one) => ({ ...one, as: 'subtask' })),
  ]
  if (others.length === 0 && !task.parent) return null
  return (
    <section className="card stack" aria-labelledby="relations">
      <h2 id="relations">Belongs together</h2>
      <ul className={styles.relations}>
        {task.parent && (
          <li>
            part of{' '}
            <Link to="/tasks/$task" params={{ task: task.parent }}>
              {task.parent}
            </Link>
          </li>
        )}
        {others.map(({ id, name, state, as }) => (
          <li key={`${as} ${id}`} className="row">
            <span className="faint">{as}</span>
            <Link to="/tasks/$task" params={{ task: id }}>
              {name ?? id}
            </Link>
            <StateBadge state={state} />
          </li>
        ))}
      </ul>
    </section>
  )
}
