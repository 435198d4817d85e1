import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCost, formatMoney } from '../../../src/cli/format.ts'
import type { CostGroup } from '../../../src/domain/money/cost.ts'
import type { CostView } from '../../../src/domain/money/cost-view.ts'
import { asked } from '../data/asked.ts'
import { Empty, Shown } from '../parts/states.tsx'
import { Wide } from '../parts/wide.tsx'
import styles from './costs.module.css'

const spans = { today: 1, 'last 7 days': 7, 'last 30 days': 30 } as const
type Span = keyof typeof spans
const groups: Record<CostGroup, string> = {
  agent: 'Agent',
  model: 'Model',
  provider: 'Provider',
  task: 'Task',
  user: 'User',
  day: 'Day',
}

const daysAgo = (days: number) => {
  const begin = new Date()
  begin.setHours(0, 0, 0, 0)
  begin.setDate(begin.getDate() - days)
  return begin.toISOString()
}

/** What was spent, on what, and how much is left of what may be. */
export default function Costs() {
  const [span, setSpan] = useState<Span>('last 7 days')
  const [by, setBy] = useState<CostGroup>('agent')
  const since = daysAgo(spans[span] - 1)
  const costs = useQuery(asked.costs({ since, by }))
  const days = useQuery(asked.costs({ since: daysAgo(29), by: 'day' }))
  return (
    <div className="stack">
      <h1>Costs</h1>
      <Shown asked={days}>{(found) => <Days costs={found} />}</Shown>
      <div className={`row ${styles.choice}`}>
        <label>
          <span>Of</span>
          <select value={span} onChange={(event) => setSpan(event.target.value as Span)}>
            {Object.keys(spans).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <span>By</span>
          <select value={by} onChange={(event) => setBy(event.target.value as CostGroup)}>
            {Object.entries(groups).map(([group, name]) => (
              <option key={group} value={group}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Shown asked={costs}>{(found) => <Table costs={found} />}</Shown>
    </div>
  )
}

/** The last thirty days as bars, with the cap of a day as a line. */
function Days({ costs }: { costs: CostView }) {
  const spent = new Map(costs.items.map(({ key, countedUsd }) => [key, countedUsd]))
  const days = Array.from({ length: 30 }, (_, n) => {
    const at = new Date()
    at.setDate(at.getDate() - (29 - n))
    const key = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`
    return { key, usd: spent.get(key) ?? 0 }
  })
  const cap = costs.caps.dayUsd
  const most = Math.max(...days.map(({ usd }) => usd), 0.01)
  const top = cap !== null && cap < most * 4 ? Math.max(most, cap) : most
  const height = 120
  return (
    <figure className={`card ${styles.figure}`}>
      <figcaption className="row">
        <h2>Last 30 days</h2>
        <span className="faint">{formatMoney(days.reduce((sum, { usd }) => sum + usd, 0))}</span>
        {cap !== null && <span className="faint">at most {formatMoney(cap)} a day</span>}
        {costs.caps.monthUsd !== null && <span className="faint">at most {formatMoney(costs.caps.monthUsd)} a month</span>}
      </figcaption>
      <svg
        viewBox={`0 0 600 ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Cost of each of the last 30 days; the dearest was ${formatMoney(most)}.`}
      >
        {days.map(({ key, usd }, n) => (
          <rect
            key={key}
            className={styles.bar}
            x={n * 20 + 2}
            width={16}
            y={height - (usd / top) * height}
            height={(usd / top) * height}
          >
            <title>{`${key}: ${formatMoney(usd)}`}</title>
          </rect>
        ))}
        {cap !== null && cap <= top && (
          <line className={styles.cap} x1={0} x2={600} y1={height - (cap / top) * height} y2={height - (cap / top) * height} />
        )}
      </svg>
    </figure>
  )
}

function Table({ costs }: { costs: CostView }) {
  if (costs.items.length === 0) return <Empty title="Nothing was spent." />
  return (
    <Wide label="Sums" className="card">
      <table>
        <thead>
          <tr>
            <th scope="col">{groups[costs.by]}</th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number">
              Tokens in
            </th>
            <th scope="col" className="number">
              Tokens out
            </th>
            <th scope="col" className="number">
              Calls
            </th>
          </tr>
        </thead>
        <tbody>
          {costs.items.map(({ key, usd, known, tokens, turns }) => (
            <tr key={key}>
              <td>
                {costs.by === 'task' ? (
                  <Link to="/tasks/$task" params={{ task: key }}>
                    {key}
                  </Link>
                ) : (
                  key
                )}
              </td>
              <td className="number">{usd === null ? 'unknown' : formatCost(usd, known)}</td>
              <td className="number">{(tokens.input + tokens.cacheRead + tokens.cacheWrite).toLocaleString()}</td>
              <td className="number">{tokens.output.toLocaleString()}</td>
              <td className="number">{turns.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {costs.unpriced.length > 0 && (
        <p className="small faint">No price is known of {costs.unpriced.join(', ')}; name it under prices: in the settings.</p>
      )}
    </Wide>
  )
}
