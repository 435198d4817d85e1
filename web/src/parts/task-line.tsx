import { Link } from '@tanstack/react-router'
import type { TaskSummary } from '../../../src/domain/view.ts'
import { StateBadge } from './badge.tsx'
import styles from './task-line.module.css'
import { Ago, Countdown } from './time.tsx'

/** One task in one line: what it is, how it is, and what is said of it right now. */
export function TaskLine({ task }: { task: TaskSummary }) {
  return (
    <Link to="/tasks/$task" params={{ task: task.id }} className={styles.link}>
      <span className={styles.state}>
        <StateBadge state={task.state} />
      </span>
      <span className={styles.text}>
        <span className="one-line">{titleOf(task)}</span>
        <span className="one-line small faint">
          <Said task={task} />
        </span>
      </span>
      <span className={`small faint ${styles.agent}`}>{task.agent}</span>
      <span className={`small faint number ${styles.age}`}>
        <Ago at={task.updatedAt} />
      </span>
    </Link>
  )
}

export const titleOf = (task: Pick<TaskSummary, 'name' | 'prompt'>) =>
  task.name ?? (task.prompt.trim().split('\n')[0] || 'Untitled')

function Said({ task }: { task: TaskSummary }) {
  if (task.state === 'parked' && task.resumeAt)
    return (
      <>
        goes on in <Countdown to={task.resumeAt} />
        {task.reason && `: ${task.reason.detail ?? task.reason.kind.replaceAll('_', ' ')}`}
      </>
    )
  if (task.state === 'running') return <>{task.current ?? 'starting'}</>
  if (task.reason?.kind === 'question') return <>waits for an answer</>
  if (task.reason) return <>{task.reason.detail ?? task.reason.kind.replaceAll('_', ' ')}</>
  if (task.result) return <>{task.result.summary ?? task.result.text.trim().split('\n')[0]}</>
  return <>{task.workspace}</>
}
