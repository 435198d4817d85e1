import { useState } from 'react'
import styles from './timeline-diff.module.css'
import type { Edit } from './timeline-edits.ts'
import { Wide } from './wide.tsx'

const most = 60
const words = { '+': 'added', '-': 'removed', ' ': '', gap: '' } as const

/** What a call of a tool changes in one file. */
export function TimelineDiff({ edit: { path, lines } }: { edit: Edit }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? lines : lines.slice(0, most)
  const [added, removed] = (['+', '-'] as const).map((sign) => lines.filter((line) => line.sign === sign).length)
  return (
    <div className={styles.diff}>
      <div className={styles.head}>
        <code className={styles.path}>{path}</code>
        <span className={styles.added}>+{added}</span>
        <span className={styles.removed}>−{removed}</span>
      </div>
      <Wide label={`Changes of ${path || 'a file'}`}>
        <pre className={styles.lines}>
          {shown.map((line, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff keep their places
            <span key={n} className={`${styles.line} ${styles[kinds[line.sign]]}`}>
              <span className={styles.sign} aria-hidden="true">
                {line.sign === 'gap' ? '⋯' : line.sign === '-' ? '−' : line.sign}
              </span>
              {words[line.sign] !== '' && <span className="hidden-but-read">{words[line.sign]}: </span>}
              {line.text}
              {'\n'}
            </span>
          ))}
        </pre>
      </Wide>
      {lines.length > most && (
        <button type="button" className="quiet small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${lines.length.toLocaleString()} lines`}
        </button>
      )}
    </div>
  )
}

const kinds = { '+': 'plus', '-': 'minus', ' ': 'same', gap: 'gap' } as const
