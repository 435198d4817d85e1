import { type RefObject, useEffect, useMemo, useState } from 'react'
import type { Item } from '../data/timeline.ts'
import { TimelineItem } from './timeline-item.tsx'
import styles from './timeline-view.module.css'
import { useWindow } from './timeline-window.ts'
import { useToggled } from './toggled.ts'

/** The rows that are in sight. It follows what comes while the end is in sight, and keeps its place otherwise. */
export function TimelineScroll(props: {
  rows: readonly Item[]
  /** The row that is looked for. */
  place: number | undefined
  /** The number of what stands at the top while somebody reads above the end; another choice of rows goes on there. */
  left: RefObject<number | undefined>
  folded: ReadonlySet<number>
  onFold(seq: number): void
}) {
  const { rows, place, left, folded, onFold } = props
  const [follows, setFollows] = useState(left.current === undefined)
  const [seen, setSeen] = useState(rows.length)
  const [open, toggle] = useToggled()
  const keys = useMemo(() => rows.map(({ event }) => event.seq), [rows])
  const { first, last, box, all, drawn, reading, show, toEnd } = useWindow(keys, left.current, setFollows)
  const wanted = place === undefined ? undefined : keys[place]
  // biome-ignore lint/correctness/useExhaustiveDependencies: its place moves while more is found above; only another one is gone to
  useEffect(() => {
    if (place !== undefined) show(place)
  }, [wanted])
  useEffect(() => {
    if (follows) setSeen(rows.length)
  }, [follows, rows.length])
  useEffect(
    () => () => {
      left.current = reading()
    },
    [left, reading],
  )
  const missed = Math.max(0, rows.length - seen)
  return (
    <div className={styles.scroll}>
      <div
        ref={box}
        className={`card ${styles.box}`}
        role="log"
        aria-label="What happened"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        // What is only passed by while somebody scrolls is not news.
        aria-live={follows ? 'polite' : 'off'}
      >
        <div ref={all} className={styles.all}>
          <div ref={drawn} className={styles.drawn}>
            {rows.slice(first, last).map((item) => {
              const { seq } = item.event
              const isFound = seq === wanted
              return (
                <div key={seq} data-seq={seq} className={styles.row}>
                  <TimelineItem
                    item={item}
                    isFound={isFound}
                    isOpen={isFound ? !open.has(seq) : open.has(seq)}
                    onToggle={toggle}
                    isFolded={folded.has(seq)}
                    onFold={onFold}
                  />
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {!follows && (
        <button type="button" className={styles.newest} onClick={toEnd}>
          Jump to the newest{missed > 0 && ` (${missed.toLocaleString()} new)`}
        </button>
      )}
    </div>
  )
}
