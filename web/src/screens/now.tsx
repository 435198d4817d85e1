import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { columnOf } from '../../../src/domain/task/column.ts'
import type { HealthView, TaskSummary } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { QuestionBox } from '../parts/question-box.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { TaskLines } from '../parts/task-line.tsx'
import { Today } from './now/today.tsx'
import { Trouble } from './now/trouble.tsx'

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
            <Running health={found} />
            <Tasks title="Parked" states={['parked']} health={found} />
            <Tasks title="Queued" states={['queued', 'created']} health={found} />
            <Today />
          </>
        )}
      </Shown>
    </div>
  )
}

function NeedsYou({ health }: { health: HealthView }) {
  const questions = useQuery(asked.questions)
  const count = (health.tasks.review ?? 0) + (health.tasks.blocked ?? 0)
  const resting = useQuery({ ...asked.tasks({ columns: ['needs_you', 'review'], limit: most }), enabled: count > 0 })
  const waiting = questions.data ?? []
  const asking = new Set(waiting.map(({ task }) => task))
  // What has a question is shown by it.
  const others = count > 0 ? (resting.data?.items.filter(({ id }) => !asking.has(id)) ?? []) : []
  const isKnown = questions.isSuccess && (count === 0 || resting.isSuccess)
  return (
    <section className="stack" aria-labelledby="needs-you">
      <h2 id="needs-you">
        Needs you {waiting.length + others.length > 0 && <span className="faint">{waiting.length + others.length}</span>}
      </h2>
      {isKnown && waiting.length === 0 && others.length === 0 && (
        <div className="card">
          <Empty title="Nothing needs you." />
        </div>
      )}
      {waiting.map((question) => (
        <QuestionBox key={question.id} question={question} linked />
      ))}
      {others.length > 0 && <TaskLines tasks={others} />}
      {resting.data?.next && <All search={{ state: 'review,blocked' }} />}
    </section>
  )
}

/** Those at work, and those that wait for parts of themselves; whether one of the parts needs somebody is said above. */
function Running({ health }: { health: HealthView }) {
  const count = (health.tasks.running ?? 0) + (health.tasks.blocked ?? 0)
  // What agents say tells nobody that something changed: it would be too much.
  const tasks = useQuery({ ...asked.tasks({ columns: ['working'], limit: most }), enabled: count > 0, refetchInterval: 3_000 })
  const items = count > 0 ? (tasks.data?.items.filter((task) => columnOf(task) === 'working') ?? []) : []
  if (items.length === 0) return null
  return (
    <section className="stack" aria-labelledby="running">
      <h2 id="running">
        Running <span className="faint">{health.tasks.running ?? 0}</span>
      </h2>
      <TaskLines tasks={items} />
      {tasks.data?.next && <All search={{ state: 'running' }} />}
    </section>
  )
}

function Tasks({ title, states, health }: { title: string; states: TaskSummary['state'][]; health: HealthView }) {
  const count = states.reduce((sum, state) => sum + (health.tasks[state] ?? 0), 0)
  const tasks = useQuery({ ...asked.tasks({ states, limit: most }), enabled: count > 0 })
  if (count === 0) return null
  return (
    <section className="stack" aria-labelledby={title}>
      <h2 id={title}>
        {title} <span className="faint">{count.toLocaleString()}</span>
      </h2>
      <Shown asked={tasks}>{({ items }) => <TaskLines tasks={items} />}</Shown>
      {count > most && <All search={{ state: states.join(',') }} />}
    </section>
  )
}

const All = ({ search }: { search: { state: string } }) => (
  <p>
    <Link to="/tasks" search={search} className="small">
      Show all
    </Link>
  </p>
)
