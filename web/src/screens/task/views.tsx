import { type ComponentType, type KeyboardEvent, useState } from 'react'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import type { Followed } from '../../data/use-timeline.ts'
import { ChangesView } from '../../parts/changes-view.tsx'
import { Growing } from '../../parts/growing.tsx'
import { RawLog } from '../../parts/raw-log.tsx'
import { TimelineView } from '../../parts/timeline-view.tsx'
import styles from './task.module.css'

interface View {
  readonly title: string
  readonly Shown: ComponentType<{ task: TaskView; followed: Followed }>
  /** Stays as it was left while another one is looked at. */
  readonly stays?: boolean
}

const views: readonly View[] = [
  { title: 'What happened', Shown: Happened, stays: true },
  { title: 'Changes', Shown: ChangesView },
  { title: 'Raw log', Shown: ({ task }) => <RawLog task={task} alwaysOpen /> },
]

function Happened({ task, followed }: { task: TaskView; followed: Followed }) {
  return (
    <>
      <TimelineView followed={followed} />
      {task.state === 'running' && <Growing task={task.id} />}
    </>
  )
}

/** All that happened, and what came of it, one beside the other. The arrow keys go from one to the next. */
export function Views({ task, followed }: { task: TaskView; followed: Followed }) {
  const [at, setAt] = useState(0)
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const next = (at + step + views.length) % views.length
    setAt(next)
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <section className={styles.views} aria-label="What happened and what came of it">
      <div role="tablist" aria-label="Views of this task" className={styles.tabs} onKeyDown={onKey}>
        {views.map(({ title }, n) => (
          <button
            key={title}
            type="button"
            role="tab"
            id={`tab-${n}`}
            aria-selected={n === at}
            aria-controls={`view-${n}`}
            tabIndex={n === at ? 0 : -1}
            onClick={() => setAt(n)}
          >
            {title}
          </button>
        ))}
      </div>
      {views.map(({ title, Shown, stays }, n) => (
        <div key={title} role="tabpanel" id={`view-${n}`} aria-labelledby={`tab-${n}`} hidden={n !== at} className={styles.view}>
          {(n === at || stays) && <Shown task={task} followed={followed} />}
        </div>
      ))}
    </section>
  )
}
