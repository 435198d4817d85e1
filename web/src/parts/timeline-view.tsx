import { useMemo, useRef, useState } from 'react'
import { formatClock } from '../../../src/cli/text/format.ts'
import { type Filter, rowsOf } from '../data/timeline-rows.ts'
import type { Followed } from '../data/use-timeline.ts'
import { Empty, Failure, Loading } from './states.tsx'
import { TimelineBar } from './timeline-bar.tsx'
import { useFound } from './timeline-find.ts'
import { TimelineScroll } from './timeline-scroll.tsx'
import styles from './timeline-view.module.css'
import { useToggled } from './toggled.ts'

/** All that happened, newest at the end: all of it or a part, and where in it something stands. */
export function TimelineView({ followed }: { followed: Followed }) {
  const { items, isCaughtUp, failure } = followed
  const [filter, setFilter] = useState<Filter>('all')
  const [folded, fold] = useToggled()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const rows = useMemo(() => rowsOf(items, filter, folded), [items, filter, folded])
  const found = useFound(rows, text)
  const { places } = found
  const left = useRef<number>(undefined)
  if (failure !== undefined) return <Failure error={failure} />
  if (!isCaughtUp && items.length === 0) return <Loading />
  if (items.length === 0) return <Empty title="Nothing has happened yet." />
  return (
    <div className={styles.around}>
      <TimelineBar
        filter={filter}
        onFilter={setFilter}
        text={text}
        onText={(now) => {
          setText(now)
          setAt(0)
        }}
        found={found}
        at={at}
        onGo={(step) => setAt((before) => (places.length === 0 ? 0 : (before + step + places.length) % places.length))}
      />
      <Standing followed={followed} />
      {rows.length === 0 ? (
        <Empty title={filter === 'problems' ? 'Nothing went wrong.' : 'Nothing of the kind has happened.'} />
      ) : (
        <TimelineScroll
          key={filter}
          rows={rows}
          place={places[Math.min(at, places.length - 1)]}
          left={left}
          folded={folded}
          onFold={fold}
        />
      )}
    </div>
  )
}

/** Whether this is all that happened, and if not, what is missing. */
function Standing({ followed: { count, isCaughtUp, isAway, lastAt } }: { followed: Followed }) {
  if (isAway)
    return (
      <p role="status" className={styles.away}>
        The daemon does not answer. This is what happened until {lastAt === undefined ? 'now' : formatClock(lastAt)}; the rest is
        shown when it is back.
      </p>
    )
  if (!isCaughtUp)
    return (
      <p role="status" className="small faint">
        {count.toLocaleString()} events are read so far, and more are there…
      </p>
    )
  return null
}
