import { useEffect, useState } from 'react'
import type { WhenRead } from '../../../src/domain/draft/draft.ts'
import { messageOf } from '../../../src/domain/error.ts'
import { pawl } from '../data/pawl.ts'
import styles from './next-times.module.css'

/** When a schedule would come, as the daemon reads what is written. */
export function NextTimes({ when: text, timeZone }: { when: string; timeZone: string }) {
  const [read, setRead] = useState<WhenRead | string>()
  useEffect(() => {
    if (text === '') return setRead(undefined)
    let isOld = false
    const timer = setTimeout(() => {
      pawl.previewSchedule({ when: text, ...(timeZone === '' ? {} : { timeZone }) }).then(
        (preview) => isOld || setRead(preview),
        (error: unknown) => isOld || setRead(messageOf(error)),
      )
    }, 300)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [text, timeZone])
  if (read === undefined) return null
  if (typeof read === 'string')
    return (
      <p role="alert" className={styles.refused}>
        {read}
      </p>
    )
  return (
    <div role="status" className={styles.times}>
      <span className="faint small">{read.next.length > 0 ? 'Next' : 'That time has passed.'}</span>
      <ol className={styles.next}>
        {read.next.map(({ at, local }) => (
          <li key={at}>
            <time dateTime={at}>{local}</time>
          </li>
        ))}
      </ol>
    </div>
  )
}
