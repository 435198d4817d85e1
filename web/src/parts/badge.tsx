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

/** The state of a task in a word; its colour only repeats it. */
export function StateBadge({ state }: { state: TaskSummary['state'] }) {
  return <Badge tone={tones[state]}>{state.replaceAll('_', ' ')}</Badge>
}

export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>
}
