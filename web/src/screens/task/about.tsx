import { Link } from '@tanstack/react-router'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { StateBadge } from '../../parts/badge.tsx'
import styles from './task.module.css'

/** What was asked for. */
export function Prompt({ task }: { task: TaskView }) {
  return (
    <section className="card stack" aria-labelledby="prompt">
      <h2 id="prompt">Prompt</h2>
      <section
        className={styles.prompt}
        aria-label="The prompt" // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {task.prompt}
      </section>
    </section>
  )
}

/** The tasks it waits for, is a part of, or has handed work to. */
export function Relations({ task }: { task: TaskView }) {
  const others = [
    ...task.dependsOn.map((one) => ({ ...one, as: 'waits for' })),
    ...task.subtasks.map((one) => ({ ...one, as: 'subtask' })),
  ]
  if (others.length === 0 && !task.parent) return null
  return (
    <section className="card stack" aria-labelledby="relations">
      <h2 id="relations">Belongs together</h2>
      <ul className={styles.plain}>
        {task.parent && (
          <li>
            part of{' '}
            <Link to="/tasks/$task" params={{ task: task.parent }}>
              {task.parent}
            </Link>
          </li>
        )}
        {others.map(({ id, name, as, ...other }) => (
          <li key={`${as} ${id}`} className="row">
            <span className="faint">{as}</span>
            <Link to="/tasks/$task" params={{ task: id }}>
              {name ?? id}
            </Link>
            <StateBadge task={other} />
          </li>
        ))}
      </ul>
    </section>
  )
}
