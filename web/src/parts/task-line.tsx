import { Link } from '@tanstack/react-router'
import type { TaskSummary } from '../../../src/domain/view/view.ts'
import { StateBadge } from './badge.tsx'
import { oneLine } from './one-line.ts'
import styles from './task-line.module.css'
import { Ago, Countdown } from './time.tsx'
import { reasonWords } from './waits-for.ts'
import { withoutMarks } from './without-marks.ts'

/** One task in one line: what it is, how it is, and what is said of it right now. */
export function TaskLine({ task }: { task: TaskSummary }) {
  return (
    <Link to="/tasks/$task" params={{ task: task.id }} className={styles.link}>
      <span className={styles.state}>
        <StateBadge task={task} />
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

export function TaskLines({ tasks }: { tasks: readonly TaskSummary[] }) {
  return (
    <ul className="card lines">
      {tasks.map((task) => (
        <li key={task.id}>
          <TaskLine task={task} />
        </li>
      ))}
    </ul>
  )
}

export const titleOf = (task: Pick<TaskSummary, 'name' | 'prompt'>) =>
  oneLine(task.name ?? withoutMarks(task.prompt.trim().split('\n')[0]!), 500) || 'Untitled'

function Said({ task }: { task: TaskSummary }) {
  if (task.state === 'parked' && task.resumeAt)
    return (
      <>
        goes on in <Countdown to={task.resumeAt} />
        {task.reason && `: ${task.reason.detail ?? task.reason.kind.replaceAll('_', ' ')}`}
      </>
    )
  if (task.state === 'running') return <>{oneLine(task.current ?? 'starting', 500)}</>
  if (task.reason) return <>{reasonWords(task.reason)}</>
  if (task.state === 'queued') return <>its turn is about to come</>
  if (task.result) return <>{oneLine(withoutMarks(task.result.summary ?? task.result.text), 500)}</>
  return <>{task.workspace}</>
}
