import { stateInWords } from '../../../src/domain/task/task.ts'
import type { TaskSummary } from '../../../src/domain/view/view.ts'
import styles from './badge.module.css'

type Tone = 'good' | 'bad' | 'ask' | 'wait' | 'work' | 'faint'

const tones: Record<TaskSummary['state'], Tone> = {
  created: 'faint',
  queued: 'wait',
  running: 'work',
  review: 'ask',
  blocked: 'ask',
  parked: 'wait',
  completed: 'good',
  failed: 'bad',
  timed_out: 'bad',
  cancelled: 'faint',
  over_budget: 'bad',
}

type Stated = Pick<TaskSummary, 'state' | 'shortfall'>

/** The state of a task in words; its colour only repeats them. What is completed and not done does not look like what is. */
export function StateBadge({ task: { state, shortfall } }: { task: Stated }) {
  return <Badge tone={shortfall === undefined ? tones[state] : 'ask'}>{stateInWords({ state, shortfall })}</Badge>
}

export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>
}
