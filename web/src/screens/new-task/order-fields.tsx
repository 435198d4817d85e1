import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isEnded, stateInWords } from '../../../../src/domain/task/task.ts'
import { asked } from '../../data/asked.ts'
import { titleOf } from '../../parts/task-line.tsx'
import { Choice, type FieldsProps, Text, Tick } from './fields.tsx'
import styles from './new-task.module.css'
import type { Written } from './written.ts'

/** What it waits for, how urgent it is, and how it is found. */
export function OrderFields({ written, change }: FieldsProps) {
  return (
    <>
      <Choice<Written['priority']> label="Priority" value={written.priority} onChange={(priority) => change({ priority })}>
        <option>high</option>
        <option>normal</option>
        <option>low</option>
      </Choice>
      <Text label="Tags" value={written.tags} onChange={(tags) => change({ tags })} />
      {written.when === '' && <DependsOn written={written} change={change} />}
    </>
  )
}

function DependsOn({ written, change }: FieldsProps) {
  const { data } = useQuery(asked.tasks({ limit: 50 }))
  const { dependsOn, waitsFor } = written
  const waiting = (data?.items ?? []).filter(
    ({ id, state }) => (!isEnded(state) || state === 'completed') && !dependsOn.some((one) => one.id === id),
  )
  // The list may come later than the id: what is not known yet stays in the field, and goes to the daemon as it is.
  const found = waiting.find(({ id }) => waitsFor.trim() === id)
  useEffect(() => {
    if (found) change({ dependsOn: [...dependsOn, { id: found.id, title: titleOf(found) }], waitsFor: '' })
  }, [found, dependsOn, change])
  return (
    <div className={`stack ${styles.wide}`}>
      <label>
        <span>Begins when these tasks are completed</span>
        <input
          list="tasks-before"
          autoComplete="off"
          placeholder="The id of a task, or choose one"
          value={waitsFor}
          onChange={(event) => change({ waitsFor: event.target.value })}
        />
      </label>
      <datalist id="tasks-before">
        {waiting.map((task) => (
          <option key={task.id} value={task.id}>
            {titleOf(task)} ({stateInWords(task)})
          </option>
        ))}
      </datalist>
      {dependsOn.length > 0 && (
        <ul className={styles.chips}>
          {dependsOn.map(({ id, title }) => (
            <li key={id}>
              <span className="one-line">{title}</span>
              <button
                type="button"
                className="quiet"
                aria-label={`Do not wait for ${title}`}
                onClick={() => change({ dependsOn: dependsOn.filter((one) => one.id !== id) })}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {(dependsOn.length > 0 || waitsFor.trim() !== '') && (
        <Tick
          label="Begin also if one of them did only a part of its work, or said nothing"
          value={written.acceptPartial}
          onChange={(acceptPartial) => change({ acceptPartial })}
        />
      )}
    </div>
  )
}
