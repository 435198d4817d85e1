import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { pawl } from '../../data/pawl.ts'
import { EditForm } from './edit-form.tsx'
import { ForkForm, useRecordings } from './fork-form.tsx'
import { actions, whyNot } from './possible.ts'
import { Remove } from './remove.tsx'
import { RetryForm } from './retry-form.tsx'
import styles from './task.module.css'

type Panel = 'cancel' | 'retry' | 'edit' | 'fork' | 'remove'

/** What can be done with it now. What needs more to be said opens below the buttons, one at a time. */
export function Actions({ task }: { task: TaskView }) {
  const [panel, setPanel] = useState<Panel>()
  const recordings = useRecordings(task)
  const resume = useMutation({ mutationFn: () => pawl.resumeTask(task.id) })
  const not = whyNot(task)
  const close = () => setPanel(undefined)
  const opener = (name: Panel, text: string, look = '') => (
    <button
      type="button"
      className={look}
      aria-expanded={panel === name}
      onClick={() => setPanel(panel === name ? undefined : name)}
    >
      {text}
    </button>
  )
  const isPossible = (name: Panel) => (name === 'fork' ? recordings.length > 0 : not[name] === undefined)
  return (
    <div className={styles.actions}>
      <div className="row">
        {!not.cancel && opener('cancel', 'Cancel')}
        {!not.resume && (
          <button type="button" disabled={resume.isPending} onClick={() => resume.mutate()}>
            Go on now
          </button>
        )}
        {!not.retry &&
          (task.state === 'over_budget'
            ? opener('retry', 'Raise the budget and go on', 'primary')
            : opener('retry', 'Try again'))}
        {recordings.length > 0 && opener('fork', 'Fork')}
        {!not.edit && opener('edit', 'Edit')}
        {!not.remove && opener('remove', 'Delete')}
      </div>
      {panel !== undefined && isPossible(panel) && (
        <div className={`card ${styles.panel}`}>
          {panel === 'cancel' && <Cancel task={task} onDone={close} />}
          {panel === 'retry' && <RetryForm task={task} onDone={close} />}
          {panel === 'edit' && <EditForm task={task} onDone={close} />}
          {panel === 'fork' && <ForkForm recordings={recordings} onDone={close} />}
          {panel === 'remove' && <Remove task={task} onDone={close} />}
        </div>
      )}
      {resume.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(resume.error)}
        </p>
      )}
      <details className="small faint">
        <summary>What cannot be done now</summary>
        <ul className={styles.reasons}>
          {actions.map((action) => not[action] && <li key={action}>{not[action]}</li>)}
          {recordings.length === 0 && <li>It cannot be forked: no run of it was recorded to be replayed.</li>}
        </ul>
      </details>
    </div>
  )
}

function Cancel({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const cancel = useMutation({ mutationFn: (now: boolean) => pawl.cancelTask(task.id, { now }), onSuccess: onDone })
  return (
    <div className="stack">
      <p>
        Stop this task{task.subtasks.length > 0 && ' and its subtasks'}? {task.state === 'running' && 'What it has done stays.'}
      </p>
      <div className="row">
        <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate(false)}>
          {cancel.isPending ? 'Stopping…' : 'Stop it'}
        </button>
        {task.state === 'running' && (
          <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate(true)}>
            At once, without grace
          </button>
        )}
        <button type="button" onClick={onDone}>
          Let it be
        </button>
      </div>
      {cancel.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(cancel.error)}
        </p>
      )}
    </div>
  )
}
