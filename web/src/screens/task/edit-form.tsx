import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { pawl } from '../../data/pawl.ts'
import styles from './task.module.css'

/** How it is called, found and ranked, while it waits. */
export function EditForm({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const [name, setName] = useState(task.name ?? '')
  const [priority, setPriority] = useState(String(task.priority))
  const [tags, setTags] = useState(task.tags.join(', '))
  const edit = useMutation({
    mutationFn: () =>
      pawl.editTask(task.id, {
        name: name.trim() === '' ? null : name.trim(),
        priority: Number(priority),
        tags: tags.split(/[\s,]+/).filter((tag) => tag !== ''),
      }),
    onSuccess: onDone,
  })
  return (
    <form
      className="stack"
      aria-label="Edit"
      onSubmit={(event) => {
        event.preventDefault()
        edit.mutate()
      }}
    >
      <div className={styles.fields}>
        <label>
          <span>Name</span>
          <input value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          <span>Priority; an hour of waiting for each step</span>
          <input
            type="number"
            min="-100"
            max="100"
            step="1"
            required
            value={priority}
            onChange={(event) => setPriority(event.target.value)}
          />
        </label>
        <label>
          <span>Tags, separated by commas</span>
          <input value={tags} onChange={(event) => setTags(event.target.value)} />
        </label>
      </div>
      <div className="row">
        <button type="submit" className="primary" disabled={edit.isPending}>
          Keep
        </button>
        <button type="button" onClick={onDone}>
          Leave it
        </button>
      </div>
      {edit.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(edit.error)}
        </p>
      )}
    </form>
  )
}
