import { useGrowing } from '../data/partial.ts'
import styles from './growing.module.css'
import { Markdown } from './markdown.tsx'

/** What the agent of a task is saying while it says it. Not read aloud: the whole is, when it comes. */
export function Growing({ task }: { task: string }) {
  const growing = useGrowing(task)
  if (!growing) return null
  const isThought = growing.kind === 'thinking'
  return (
    <div className={styles.growing} data-kind={growing.kind} aria-live="off">
      <span className="hidden-but-read">{isThought ? 'It thinks:' : 'It is saying:'}</span>
      {isThought ? <p className={styles.thought}>{growing.text}</p> : <Markdown text={growing.text} />}
      <span className={styles.cursor} aria-hidden="true" />
    </div>
  )
}
