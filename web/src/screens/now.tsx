import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatMoney } from '../../../src/cli/format.ts'
import type { HealthView, TaskSummary } from '../../../src/domain/view.ts'
import { asked } from '../data/asked.ts'
import { QuestionBox } from '../parts/question-box.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { TaskLine } from '../parts/task-line.tsx'

const most = 50

/** What happened, and does it need me? */
export default function Now() {
  const health = useQuery(asked.health)
  return (
    <div className="stack">
      <h1>Now</h1>
      <Shown asked={health}>
        {(found) => (
          <>
            <Trouble health={found} />
            <NeedsYou health={found} />
            <Tasks title="Running" states={['running']} health={found} />
            <Tasks title="Parked" states={['parked']} health={found} />
            <Tasks title="Queued" states={['queued', 'created']} health={found} />
            <Today />
          </>
        )}
      </Shown>
    </div>
  )
}

/** What fails without anybody being asked: it would go on for ever unless somebody sees it. */
function Trouble({ health }: { health: HealthView }) {
  const agents = useQuery(asked.agents)
  const sick = agents.data?.filter(({ health: { healthy, installed } }) => installed && !healthy) ?? []
  const lines: { key: string; text: ReactNode }[] = [
    ...(health.halt
      ? [
          {
            key: 'halt',
            text: `All agents are stopped since ${new Date(health.halt.at).toLocaleString()} by ${health.halt.by}; "pawl resume" lets them go on.`,
          },
        ]
      : []),
    ...(health.walls.enforced
      ? []
      : [{ key: 'walls', text: `Agents run without walls: ${health.walls.detail} ${health.walls.fix ?? ''}` }]),
    ...health.schedules.unhealthy.map(({ id, name, failedInARow, detail }) => ({
      key: id,
      text: `The schedule ${name ?? id} has failed ${failedInARow} times in a row: ${detail}`,
    })),
    ...health.schedules.refused.map(({ name, detail }) => ({
      key: `refused-${name}`,
      text: `The schedule ${name} is not in force: ${detail}`,
    })),
    ...(health.notifications.dead > 0
      ? [{ key: 'dead', text: `${health.notifications.dead} notifications could not be delivered and were given up.` }]
      : []),
    ...sick.map(({ name, health: { detail, fix } }) => ({
      key: `agent-${name}`,
      text: `The agent ${name} cannot work: ${detail} ${fix ?? ''}`,
    })),
  ]
  if (lines.length === 0) return null
  return (
    <section className="card stack" aria-labelledby="trouble">
      <h2 id="trouble">Trouble</h2>
      <ul className="stack">
        {lines.map(({ key, text }) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
    </section>
  )
}

function NeedsYou({ health }: { health: HealthView }) {
  const questions = useQuery(asked.questions)
  const review = useQuery({ ...asked.tasks({ states: ['review'], limit: most }), enabled: (health.tasks.review ?? 0) > 0 })
  const waiting = questions.data ?? []
  const reviews = review.data?.items ?? []
  return (
    <section className="stack" aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you</h2>
      {questions.isSuccess && waiting.length === 0 && reviews.length === 0 && (
        <div className="card">
          <Empty title="Nothing needs you." />
        </div>
      )}
      {waiting.map((question) => (
        <QuestionBox key={question.id} question={question} linked />
      ))}
      {reviews.length > 0 && <Lines tasks={reviews} />}
    </section>
  )
}

function Tasks({ title, states, health }: { title: string; states: TaskSummary['state'][]; health: HealthView }) {
  const count = states.reduce((sum, state) => sum + (health.tasks[state] ?? 0), 0)
  const tasks = useQuery({ ...asked.tasks({ states, limit: most }), enabled: count > 0 })
  if (count === 0) return null
  return (
    <section className="stack" aria-labelledby={title}>
      <div className="row">
        <h2 id={title}>
          {title} <span className="faint">{count}</span>
        </h2>
        {count > most && (
          <Link to="/tasks" search={{ state: states.join(',') }} className="small">
            Show all
          </Link>
        )}
      </div>
      <Shown asked={tasks}>{({ items }) => <Lines tasks={items} />}</Shown>
    </section>
  )
}

function Today() {
  const costs = useQuery(asked.costsToday)
  const ended = useQuery(asked.tasks({ states: ['completed', 'failed', 'timed_out', 'cancelled', 'over_budget'], limit: 20 }))
  const today = new Date().toDateString()
  const items = ended.data?.items.filter(({ endedAt }) => endedAt && new Date(endedAt).toDateString() === today) ?? []
  return (
    <section className="stack" aria-labelledby="today">
      <div className="row">
        <h2 id="today">Done today</h2>
        {costs.data && <span className="faint">{formatMoney(costs.data.total.usd ?? 0)} spent</span>}
      </div>
      {items.length > 0 ? <Lines tasks={items} /> : <p className="faint">Nothing has ended today.</p>}
    </section>
  )
}

function Lines({ tasks }: { tasks: readonly TaskSummary[] }) {
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
