import { type ReactNode, useState } from 'react'
import styles from './new-task.module.css'

/** Fields that most tasks leave alone. Open where something stands in them. */
export function Group({ title, isOpen, children }: { title: string; isOpen: boolean; children: ReactNode }) {
  const [wasOpened, setOpened] = useState(isOpen)
  const open = isOpen || wasOpened
  return (
    <details className={styles.group} open={open} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && <div className={styles.fields}>{children}</div>}
    </details>
  )
}
