import type { ConnectionState } from '../data/live.ts'
import styles from './connection.module.css'

const words: Record<ConnectionState, { readonly short: string; readonly long: string }> = {
  connecting: { short: 'connecting', long: 'Asks the daemon for what is.' },
  live: { short: 'live', long: 'What you see is what is.' },
  reconnecting: { short: 'reconnecting', long: 'The daemon does not answer. What you see may be old; it is asked again.' },
  offline: { short: 'offline', long: 'This device is offline. What you see is from before.' },
}

/** Whether what is shown is what is. */
export function Connection({ state }: { state: ConnectionState }) {
  const { short, long } = words[state]
  return (
    <span className={`${styles.connection} ${styles[state]}`} role="status" title={long}>
      <span className={styles.dot} aria-hidden="true" />
      <span className={styles.word}>{short}</span>
    </span>
  )
}
