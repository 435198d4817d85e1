import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { messageOf } from '../../../../src/domain/error.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import styles from './task.module.css'

/** Asks once more, because nothing brings it back. */
export function Remove({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => pawl.removeTask(task.id),
    async onSuccess() {
      await navigate({ to: '/tasks' })
      queries.removeQueries({ queryKey: asked.task(task.id).queryKey })
    },
  })
  const below = task.subtasks.length
  return (
    <div className="stack">
      <p>
        Delete this task{below > 0 && ` and the ${below} below it`}, with its runs, events and questions? Its workspace and its
        costs stay.
      </p>
      <div className="row">
        <button type="button" className="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          Delete it for good
        </button>
        <button type="button" onClick={onDone}>
          Keep it
        </button>
      </div>
      {remove.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(remove.error)}
        </p>
      )}
    </div>
  )
}
