import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTimeline } from '../data/use-timeline.ts'
import { Empty, Failure, Loading } from './states.tsx'
import { TimelineItem } from './timeline-item.tsx'
import styles from './timeline-view.module.css'

/** Closer to the end than this counts as following it. */
const nearPx = 80

/** All that happened, newest at the end. It follows what comes while the end is in sight, and keeps its place otherwise. */
export function TimelineView({ task }: { task: string }) {
  const { items, isCaughtUp, isAway, failure } = useTimeline(task)
  const box = useRef<HTMLDivElement>(null)
  const top = useRef(0)
  const [follows, setFollows] = useState(true)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  // Another function would have every row measured anew, with every step of a scroll.
  const getItemKey = useCallback((index: number) => items[index]?.event.seq ?? -index, [items])
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => 36,
    getItemKey,
    overscan: 10,
  })
  const toEnd = useCallback(() => {
    if (items.length > 0) rows.scrollToIndex(items.length - 1, { align: 'end' })
  }, [rows, items.length])
  useEffect(() => {
    if (follows) toEnd()
  }, [follows, toEnd])
  const toggle = useCallback(
    (seq: number) =>
      setOpen((before) => {
        const after = new Set(before)
        if (!after.delete(seq)) after.add(seq)
        return after
      }),
    [],
  )
  if (failure !== undefined) return <Failure error={failure} />
  if (!isCaughtUp && items.length === 0) return <Loading />
  if (items.length === 0) return <Empty title="Nothing has happened yet." />
  return (
    <div className={styles.around}>
      {isAway && (
        <p role="status" className={styles.away}>
          The daemon does not answer; what happens meanwhile is shown when it is back.
        </p>
      )}
      <div
        ref={box}
        className={`card ${styles.box}`}
        role="log"
        aria-label="What happened"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        // What is only passed by while somebody scrolls is not news.
        aria-live={follows ? 'polite' : 'off'}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          // Rows that turn out higher than thought move the end away; only whoever scrolls up leaves it.
          const wentUp = scrollTop < top.current
          top.current = scrollTop
          const isNear = scrollHeight - scrollTop - clientHeight < nearPx
          setFollows((before) => isNear || (before && !wentUp))
        }}
      >
        <div className={styles.all} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index]!
            return (
              <div
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className={styles.row}
                style={{ transform: `translateY(${start}px)` }}
              >
                <TimelineItem item={item} isOpen={open.has(item.event.seq)} onToggle={toggle} />
              </div>
            )
          })}
        </div>
      </div>
      {!follows && (
        <button
          type="button"
          className={styles.newest}
          onClick={() => {
            setFollows(true)
            toEnd()
          }}
        >
          Jump to the newest
        </button>
      )}
    </div>
  )
}
