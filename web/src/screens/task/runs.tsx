import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { durationOf, formatCost, formatElapsed, formatMoney, formatState } from '../../../../src/cli/text/format.ts'
import { tokensOf } from '../../../../src/domain/money/cost.ts'
import type { RunView, TaskView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import { Badge } from '../../parts/badge.tsx'
import { Ago } from '../../parts/time.tsx'
import styles from './task.module.css'

/** Every run: how it ended, by whom and behind what it was done, and what it took. */
export function Runs({ task, models }: { task: TaskView; models: ReadonlyMap<string, readonly string[]> }) {
  const { data: recordings } = useQuery({ ...asked.recordings, enabled: task.runs.length > 0 })
  if (task.runs.length === 0) return null
  const tokens = task.runs.reduce((sum, { usage }) => sum + (usage ? tokensOf(usage) : 0), 0)
  const { usd, totalUsd, known } = task.cost
  // Programs that tell nothing of what they use have not used nothing.
  const spent = [
    ...(tokens > 0 ? [`${tokens.toLocaleString()} tokens`] : []),
    ...(usd !== null && (usd > 0 || tokens > 0) ? [formatCost(usd, known)] : []),
    ...(totalUsd !== null && totalUsd !== usd ? [`with its subtasks ${formatCost(totalUsd, known)}`] : []),
  ]
  return (
    <section className="card stack" aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      <ol className={styles.plain}>
        {task.runs.toReversed().map((run) => (
          <Run
            key={run.id}
            run={run}
            models={models.get(run.id) ?? (task.settings.model === null ? [] : [task.settings.model])}
            recorded={recordings?.find((one) => one.run === run.id)?.calls}
          />
        ))}
      </ol>
      <p className="small faint">
        {spent.length > 0 && `In all ${spent.join(', ')} · `}
        <Link to="/sessions/$session" params={{ session: task.session }}>
          its session
        </Link>
      </p>
    </section>
  )
}

const tones = { succeeded: 'good', failed: 'bad', timed_out: 'bad' } as const

function Run({ run, models, recorded }: { run: RunView; models: readonly string[]; recorded: number | undefined }) {
  const { outcome, usage, costUsd, startedAt } = run
  const tone = run.state !== 'ended' ? 'work' : (tones[outcome as keyof typeof tones] ?? 'faint')
  const about = [
    run.agent,
    ...models,
    run.profile,
    run.walls === null ? null : run.enforced ? `walls: ${run.walls}` : `walls: ${run.walls}, not enforced`,
    recorded === undefined ? null : `recorded, ${recorded} ${recorded === 1 ? 'call' : 'calls'}`,
  ]
  return (
    <li className={styles.run}>
      <div className={styles.line}>
        <strong>{run.attempt}</strong>
        <Badge tone={tone}>{formatState(outcome ?? run.state)}</Badge>
        <span className={`small faint number ${styles.far}`}>
          {run.endedAt ? formatElapsed(durationOf(run)) : startedAt ? <Ago at={startedAt} /> : ''}
        </span>
        {usage && <span className="small faint number">{tokensOf(usage).toLocaleString()} tokens</span>}
        {costUsd !== null && <span className="small number">{formatMoney(costUsd)}</span>}
      </div>
      {run.message && <p className={`small ${styles.path}`}>{run.message}</p>}
      <p className={`small faint ${styles.path}`}>{about.filter((part) => part !== null).join(' · ')}</p>
    </li>
  )
}
