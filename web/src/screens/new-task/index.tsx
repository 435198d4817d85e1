import { useState } from 'react'
import { NewTaskForm } from './form.tsx'
import styles from './new-task.module.css'
import { PastedTasks } from './pasted-tasks.tsx'

const ways = { form: 'Form', paste: 'Paste a task file' } as const

/** New work: by a form, or as the text of a task file. */
export default function NewTaskScreen() {
  const [way, setWay] = useState<keyof typeof ways>('form')
  return (
    <div className={styles.screen}>
      <div className="row">
        <h1>New task</h1>
        <div className={styles.ways}>
          {(Object.keys(ways) as (keyof typeof ways)[]).map((one) => (
            <button key={one} type="button" className="quiet" aria-pressed={way === one} onClick={() => setWay(one)}>
              {ways[one]}
            </button>
          ))}
        </div>
      </div>
      {way === 'form' ? <NewTaskForm /> : <PastedTasks />}
    </div>
  )
}
