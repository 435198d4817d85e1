import type { Todo } from '../../../src/domain/event/todos.ts'
import styles from './todo-list.module.css'

const words: Record<Todo['state'], { readonly sign: string; readonly word: string }> = {
  open: { sign: '○', word: 'open' },
  going: { sign: '◐', word: 'under way' },
  done: { sign: '✓', word: 'done' },
  dropped: { sign: '–', word: 'dropped' },
}

/** What the agent means to do, as it keeps it itself. */
export function TodoList({ todos }: { todos: readonly Todo[] }) {
  const done = todos.filter(({ state }) => state === 'done').length
  return (
    <section className="card stack" aria-labelledby="todos">
      <h2 id="todos">
        To do{' '}
        <span className="small faint">
          {done} of {todos.length} done
        </span>
      </h2>
      <ul className={styles.list}>
        {todos.map(({ text, state }, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is told anew as a whole
          <li key={n} className={styles[state]}>
            <span aria-hidden="true" className={styles.sign}>
              {words[state].sign}
            </span>
            <span className="hidden-but-read">{words[state].word}: </span>
            <span className={styles.text}>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
