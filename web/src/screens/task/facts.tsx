import { Link } from '@tanstack/react-router'
import { formatCost } from '../../../../src/cli/text/format.ts'
import { whyAlone } from '../../../../src/domain/task/suspect.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { Countdown, Doing, Since } from '../../parts/time.tsx'
import styles from './task.module.css'

const proofs = { none: undefined, reported: 'not verified', verified: 'verified by checks' } as const

/** How it stands, in a few lines. */
export function Facts({ task }: { task: TaskView }) {
  const { reason, resumeAt, cost, settings } = task
  const proof = proofs[task.proof]
  return (
    <div className={styles.facts}>
      {reason && reason.kind !== 'question' && <p className={styles.path}>{reason.detail ?? reason.kind.replaceAll('_', ' ')}</p>}
      {task.suspect && reason?.kind !== 'alone' && <p className={styles.path}>Suspect: {whyAlone(task.suspect)}</p>}
      {resumeAt && task.state === 'parked' && (
        <p>
          Goes on in <Countdown to={resumeAt} />
        </p>
      )}
      {task.activity && task.state === 'running' && <Doing activity={task.activity} />}
      {task.current && task.state === 'running' && <p className="one-line">{task.current}</p>}
      <div className={`small faint ${styles.line}`}>
        <span>{task.agent}</span>
        <span>
          changed <Since at={task.updatedAt} />
        </span>
        {cost.totalUsd !== null && (
          <span>
            {formatCost(cost.totalUsd, cost.known)}
            {settings.budget.usd !== undefined && ` of at most $${settings.budget.usd}`}
          </span>
        )}
        {task.priority !== 0 && <span>priority {task.priority}</span>}
        {task.tags.length > 0 && <span>{task.tags.join(', ')}</span>}
        {proof !== undefined && <span>{proof}</span>}
        <Link to="/sessions/$session" params={{ session: task.session }}>
          its session
        </Link>
        <code className={styles.path}>{task.workspace}</code>
      </div>
    </div>
  )
}
