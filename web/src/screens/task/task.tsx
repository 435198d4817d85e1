import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import { useTimeline } from '../../data/use-timeline.ts'
import { showTitle } from '../../drawn/page.ts'
import { Artifacts } from '../../parts/artifacts.tsx'
import { StateBadge } from '../../parts/badge.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { QuestionBox } from '../../parts/question-box.tsx'
import { Shown } from '../../parts/states.tsx'
import { titleOf } from '../../parts/task-line.tsx'
import { TodoList } from '../../parts/todo-list.tsx'
import { Prompt, Relations } from './about.tsx'
import { Actions } from './actions.tsx'
import { Checks } from './checks.tsx'
import { Facts } from './facts.tsx'
import { Review } from './review.tsx'
import { Runs } from './runs.tsx'
import styles from './task.module.css'
import { Views } from './views.tsx'

/** One task: what it is about, what it needs, and all that happened to it. */
export default function Task() {
  const { task: id } = useParams({ strict: false }) as { task: string }
  const task = useQuery({
    ...asked.task(id),
    // A silent task tells nothing that would bring a newer view of it.
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 15_000 : false),
  })
  return <Shown asked={task}>{(found) => <Body key={found.id} task={found} />}</Shown>
}

function Body({ task }: { task: TaskView }) {
  const title = titleOf(task)
  const followed = useTimeline(task.id)
  useEffect(() => {
    showTitle(`${title} · Pawl`)
  }, [title])
  const pending = task.questions.filter(({ state }) => state === 'pending')
  return (
    <div className={styles.screen}>
      <div className={styles.main}>
        <header className={styles.head}>
          <div className="row">
            <h1 className={styles.title}>{title}</h1>
            <StateBadge task={task} />
          </div>
          <Facts task={task} />
          <Actions task={task} />
        </header>
        {pending.map((question, n) => (
          <QuestionBox key={question.id} question={question} hasKeys={n === 0} />
        ))}
        {task.state === 'review' && <Review task={task} hasKeys={pending.length === 0} />}
        {task.result?.text && (
          <section className="card stack" aria-labelledby="answer">
            <h2 id="answer">Answer</h2>
            <div className={styles.answer}>
              <Markdown text={task.result.text} />
            </div>
          </section>
        )}
        {task.artifacts > 0 && (
          <section className="card stack" aria-labelledby="files">
            <h2 id="files">Files it has left</h2>
            <Artifacts task={task} />
          </section>
        )}
        {followed.todos.length > 0 && <TodoList todos={followed.todos} />}
        <Views task={task} followed={followed} />
      </div>
      <aside className={`stack ${styles.aside}`} aria-label="About this task">
        <Checks task={task} />
        <Runs task={task} models={followed.models} />
        <Prompt task={task} />
        <Relations task={task} />
      </aside>
    </div>
  )
}
