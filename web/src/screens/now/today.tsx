import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatMoney } from '../../../../src/cli/text/format.ts'
import { asked } from '../../data/asked.ts'
import { Shown } from '../../parts/states.tsx'
import { TaskLines } from '../../parts/task-line.tsx'
import styles from './now.module.css'

const most = 100
const midnight = () => new Date(new Date().setHours(0, 0, 0, 0)).toISOString()

/** What has come to its end since midnight, however long ago it was made, and what the day has cost. */
export function Today() {
  const [since] = useState(midnight)
  const ended = useQuery(asked.tasks({ endedSince: since, sort: 'ended', limit: most }))
  return (
    <section className="stack" aria-labelledby="today">
      <div className="row">
        <h2 id="today">
          Done today {ended.data && ended.data.items.length > 0 && <span className="faint">{counted(ended.data)}</span>}
        </h2>
        <Spent />
      </div>
      <Shown asked={ended}>
        {({ items }) => (items.length > 0 ? <TaskLines tasks={items} /> : <p className="faint">Nothing has ended today.</p>)}
      </Shown>
      {ended.data?.next && (
        <p>
          <Link to="/tasks" search={{ view: 'board' }} className="small">
            Show all
          </Link>
        </p>
      )}
    </section>
  )
}

const counted = ({ items, next }: { items: readonly unknown[]; next: string | null }) =>
  `${items.length}${next ? ' and more' : ''}`

/** Against what may be spent in a day, if that is capped. */
function Spent() {
  const { data } = useQuery(asked.costsToday)
  if (!data) return null
  const spent = data.total.countedUsd
  const cap = data.caps.dayUsd
  const said = cap === null ? `${formatMoney(spent)} spent` : `${formatMoney(spent)} of ${formatMoney(cap)} spent`
  const share = cap === null ? 0 : Math.min(spent / Math.max(cap, 0.000_001), 1)
  return (
    <Link to="/costs" className={`row small ${styles.spent}`}>
      {cap !== null && <meter min={0} max={1} value={share} aria-label="Spent today of what may be" />}
      {said}
    </Link>
  )
}
