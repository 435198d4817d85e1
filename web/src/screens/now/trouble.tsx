import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AgentView, HealthView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import { Ago } from '../../parts/time.tsx'
import styles from './now.module.css'

interface Line {
  readonly key: string
  readonly what: string
  readonly detail?: string | null | undefined
  readonly since?: string | undefined
  /** What to do next. */
  readonly todo?: string | null | undefined
  readonly to?: { readonly path: string; readonly says: string } | undefined
}

/** What fails without anybody being asked: it would go on for ever unless somebody sees it. Each line says what to do next. */
export function Trouble({ health }: { health: HealthView }) {
  const agents = useQuery(asked.agents)
  const lines = [...ofDaemon(health), ...ofAgents(health, agents.data ?? []), ...ofTasks(health), ...ofSchedules(health)]
  if (lines.length === 0) return null
  return (
    <section className={`card stack ${styles.trouble}`} aria-labelledby="trouble">
      <div className="row">
        <h2 id="trouble">Trouble</h2>
        <Link to="/doctor" className="small">
          Look at everything
        </Link>
      </div>
      <ul className={styles.lines}>
        {lines.map(({ key, what, detail, since, todo, to }) => (
          <li key={key}>
            <div>
              <strong>{what}</strong>
              {since && (
                <span className="faint">
                  {' '}
                  for <Ago at={since} />
                </span>
              )}
            </div>
            {detail && <div className={styles.detail}>{detail}</div>}
            <div className="small faint">
              {todo && <span>What to do: {todo} </span>}
              {to && <Link to={to.path}>{to.says}</Link>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function ofDaemon({ halt, walls, notifications }: HealthView): Line[] {
  return [
    ...(halt
      ? [
          {
            key: 'halt',
            what: `All agents are stopped, by ${halt.by}`,
            since: halt.at,
            detail: halt.reason,
            todo: '"pawl resume" lets them go on, and so do the settings.',
            to: { path: '/settings', says: 'Settings' },
          },
        ]
      : []),
    ...(walls.enforced ? [] : [{ key: 'walls', what: 'Agents run without walls', detail: walls.detail, todo: walls.fix }]),
    ...(notifications.dead > 0
      ? [
          {
            key: 'dead',
            what: `${notifications.dead} ${notifications.dead === 1 ? 'notification was' : 'notifications were'} given up`,
            todo: 'pawl notifications ls --state dead, then pawl notifications retry',
          },
        ]
      : []),
  ]
}

/** By what asking their programs shows, and by what became of their last runs. */
function ofAgents({ agents }: HealthView, views: readonly AgentView[]): Line[] {
  const to = { path: '/agents', says: 'Agents' }
  const failing = agents
    .filter(({ healthy }) => !healthy)
    .map(({ agent, failedInARow, lastSucceededAt, lastTask, detail, todo }) => ({
      key: `runs-${agent}`,
      what:
        failedInARow === 1
          ? `The last run of ${agent} failed`
          : `The last ${failedInARow} runs of ${agent} failed, and nothing succeeded ${lastSucceededAt ? `since ${new Date(lastSucceededAt).toLocaleString()}` : 'before them'}`,
      detail,
      todo,
      to: { path: `/tasks/${lastTask}`, says: 'Show the last task' },
    }))
  const used = new Set(agents.map(({ agent }) => agent))
  const sick = views
    .filter(({ name, source, health: { healthy } }) => !healthy && (source !== 'builtin' || used.has(name)))
    .map(({ name, health: { detail, fix }, install }) => ({
      key: `program-${name}`,
      what: `The program of ${name} cannot work`,
      detail,
      todo: fix ?? install,
      to,
    }))
  return [...failing, ...sick]
}

const ofTasks = ({ stuck }: HealthView): Line[] =>
  stuck.map(({ task, name, agent, silentSince, todo }) => ({
    key: `stuck-${task}`,
    what: `${agent} runs and says nothing in "${name ?? task}"`,
    since: silentSince,
    todo,
    to: { path: `/tasks/${task}`, says: 'Show the task' },
  }))

function ofSchedules({ schedules: { unhealthy, refused } }: HealthView): Line[] {
  const to = { path: '/schedules', says: 'Schedules' }
  return [
    ...unhealthy.map(({ id, name, failedInARow, detail }) => ({
      key: id,
      what:
        failedInARow > 0
          ? `The schedule ${name ?? id} has failed ${failedInARow} ${failedInARow === 1 ? 'time' : 'times'} in a row`
          : `The schedule ${name ?? id} does not come`,
      detail,
      todo: 'look at its last task, then run it once by hand.',
      to,
    })),
    ...refused.map(({ name, source, detail }) => ({
      key: `refused-${name}`,
      what: `The schedule ${name} is not in force`,
      detail,
      todo: `correct it in ${source}, then start the daemon again.`,
      to,
    })),
  ]
}
