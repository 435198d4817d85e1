import type { TaskSummary } from '../../../../src/domain/view/view.ts'
import { TaskLine, titleOf } from '../../parts/task-line.tsx'
import styles from '../tasks.module.css'
import type { Selection } from './selection.ts'

/** A task that can be chosen; with shift, all between it and the last one. */
export function Row({ task, order, selection }: { task: TaskSummary; order: readonly TaskSummary[]; selection: Selection }) {
  const isChosen = selection.chosen.has(task.id)
  return (
    <div className={`${styles.choosable} ${isChosen ? styles.chosen : ''}`} data-task={task.id}>
      <input
        type="checkbox"
        checked={isChosen}
        aria-label={`Choose ${titleOf(task)}`}
        onChange={() => undefined}
        onClick={(event) => (event.shiftKey ? selection.extend(task, order) : selection.toggle(task))}
      />
      <TaskLine task={task} />
    </div>
  )
}
