import { useMemo, useState } from 'react'
import styles from './timeline-output.module.css'

const mostLines = 30
const mostChars = 6_000
/** No browser shows more than this without a pause. */
const mostAtAll = 400_000

/** What a program printed: its beginning and its end, and all of it when asked. */
export function TimelineOutput({ text, label, isBad = false }: { text: string; label: string; isBad?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const { lines, short } = useMemo(() => shorten(text), [text])
  const all = text.length > mostAtAll ? text.slice(-mostAtAll) : text
  return (
    <div className={styles.output}>
      <section
        className={`${styles.text} ${isBad ? styles.bad : ''} ${isWhole ? styles.whole : ''}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
      >
        <pre>{isWhole || short === undefined ? all : short}</pre>
      </section>
      {short !== undefined && (
        <button type="button" className="quiet small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole
            ? 'Show less'
            : text.length > mostAtAll
              ? `Show the last ${mostAtAll.toLocaleString()} characters`
              : `Show all ${lines.toLocaleString()} ${lines === 1 ? 'line' : 'lines'}`}
        </button>
      )}
    </div>
  )
}

/** The beginning tells what it is, the end how it went. Undefined if all of it is short enough. */
function shorten(text: string): { lines: number; short?: string } {
  const lines = text.trimEnd().split('\n')
  if (lines.length <= mostLines && text.length <= mostChars) return { lines: lines.length }
  const half = mostLines / 2
  if (lines.length <= mostLines)
    return { lines: lines.length, short: `${text.slice(0, mostChars / 2)}\n⋯\n${text.slice(-mostChars / 2)}` }
  const [head, tail] = [lines.slice(0, half).join('\n'), lines.slice(-half).join('\n')]
  const short = `${head.slice(0, mostChars / 2)}\n⋯ ${lines.length - mostLines} lines ⋯\n${tail.slice(-mostChars / 2)}`
  return { lines: lines.length, short }
}
