import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useLayoutEffect, useRef, useState } from 'react'
import { formatCost, formatMoney } from '../../../src/cli/text/format.ts'
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
  tree: 'Task with its subtasks',
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

const shownDays = 30
const size = { height: 220, bottom: 24, top: 10, letter: 8 }

/** The last thirty days as bars, with the cap of a day as a line, and the same as a table. */
function Days({ costs }: { costs: CostView }) {
  const spent = new Map(costs.items.map(({ key, countedUsd }) => [key, countedUsd]))
  const days = Array.from({ length: shownDays }, (_, n) => {
    const at = new Date()
    at.setDate(at.getDate() - (shownDays - 1 - n))
    const key = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`
    return { key, usd: spent.get(key) ?? 0 }
  })
  const { dayUsd: cap, monthUsd, userDayUsd } = costs.caps
  const most = Math.max(...days.map(({ usd }) => usd), 0.01)
  // A cap that is far away would press the bars flat.
  const isCapNear = cap !== null && cap < most * 4
  const ticks = ticksUpTo(isCapNear ? Math.max(most, cap) : most)
  const sum = days.reduce((total, { usd }) => total + usd, 0)
  const isMoney = costs.caps.dayUsd !== null || monthUsd !== null || userDayUsd !== null
  return (
    <figure className={`card ${styles.figure}`}>
      <figcaption className="row">
        <h2>Last {shownDays} days</h2>
        <span className="faint">{formatMoney(sum)}</span>
        {cap !== null && <span className="faint">at most {formatMoney(cap)} a day</span>}
        {monthUsd !== null && <span className="faint">at most {formatMoney(monthUsd)} a month</span>}
        {userDayUsd !== null && <span className="faint">at most {formatMoney(userDayUsd)} a day for one user</span>}
        {!isMoney && (
          <Link to="/settings" className="small">
            No cap is set for all together
          </Link>
        )}
      </figcaption>
      <Bars days={days} ticks={ticks} most={most} cap={isCapNear ? cap : null} />
      <details>
        <summary className="small">The same as a table</summary>
        <Wide label="Cost of each day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" className="number">
                  Cost
                </th>
              </tr>
            </thead>
            <tbody>
              {days
                .filter(({ usd }) => usd > 0)
                .map(({ key, usd }) => (
                  <tr key={key}>
                    <td>{key}</td>
                    <td className="number">{formatMoney(usd)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </Wide>
      </details>
    </figure>
  )
}

/** Round amounts from nothing up to at least this much: four or five lines. */
function ticksUpTo(most: number): number[] {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, n) => n * step)
}

function Bars({
  days,
  ticks,
  most,
  cap,
}: {
  days: readonly { key: string; usd: number }[]
  ticks: readonly number[]
  most: number
  cap: number | null
}) {
  const { height, bottom } = size
  const picture = useRef<SVGSVGElement>(null)
  const width = useWidth(picture)
  const top = ticks.at(-1)!
  const words = ticks.map((usd) => (top < 10 ? formatMoney(usd) : `$${usd.toLocaleString()}`))
  const left = Math.max(...words.map(({ length }) => length)) * size.letter + 10
  const floor = height - bottom
  const yOf = (usd: number) => floor - (usd / top) * (floor - size.top)
  const step = Math.max((width - left) / days.length, 1)
  const barGap = Math.min(4, step / 3)
  const daysApart = step * 7 < 80 ? 14 : 7
  const isOver = (usd: number) => cap !== null && usd > cap
  return (
    <svg
      ref={picture}
      height={height}
      role="img"
      aria-label={`Cost of each of the last ${days.length} days; the dearest was ${formatMoney(most)}.`}
    >
      {ticks.map((usd, n) => (
        <g key={usd}>
          <line className={styles.grid} x1={left} x2={width} y1={yOf(usd)} y2={yOf(usd)} />
          <text className={styles.tick} x={left - 8} y={yOf(usd) + 4} textAnchor="end">
            {words[n]}
          </text>
        </g>
      ))}
      {days.map(({ key, usd }, n) => (
        <g key={key}>
          <rect
            className={isOver(usd) ? styles.over : styles.bar}
            x={left + n * step + barGap / 2}
            width={step - barGap}
            y={yOf(usd)}
            height={floor - yOf(usd)}
          >
            <title>{`${key}: ${formatMoney(usd)}`}</title>
          </rect>
          {(days.length - 1 - n) % daysApart === 0 && (
            <text
              className={styles.tick}
              // The last bar is at the edge.
              x={n === days.length - 1 ? width : left + (n + 0.5) * step}
              y={height - 6}
              textAnchor={n === days.length - 1 ? 'end' : 'middle'}
            >
              {new Date(`${key}T12:00`).toLocaleDateString(undefined, { day: 'numeric', month: 'short' })}
            </text>
          )}
        </g>
      ))}
      {cap !== null && (
        <>
          <line className={styles.cap} x1={left} x2={width} y1={yOf(cap)} y2={yOf(cap)} />
          <text className={styles.capText} x={left + 4} y={yOf(cap) + 14}>
            cap of a day
          </text>
        </>
      )}
    </svg>
  )
}

/** How wide it is on the screen: drawn in those very pixels, letters are as large as everywhere. */
function useWidth(element: React.RefObject<Element | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

function Table({ costs }: { costs: CostView }) {
  if (costs.items.length === 0) return <Empty title="Nothing was spent." />
  const dearest = Math.max(...costs.items.map(({ countedUsd }) => countedUsd), 0.000_001)
  return (
    <Wide label="Sums" className="card">
      <table className="folds">
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
          {costs.items.map(({ key, usd, countedUsd, known, tokens, turns }) => (
            <tr key={key}>
              <td>
                {costs.by === 'task' || costs.by === 'tree' ? (
                  <Link to="/tasks/$task" params={{ task: key }}>
                    {key}
                  </Link>
                ) : (
                  key || 'unknown'
                )}
                <div className={styles.share} style={{ width: `${(100 * countedUsd) / dearest}%` }} />
              </td>
              <td className="number" data-head="Cost">
                {usd === null ? 'unknown' : formatCost(usd, known)}
              </td>
              <td className="number" data-head="Tokens in">
                {(tokens.input + tokens.cacheRead + tokens.cacheWrite).toLocaleString()}
              </td>
              <td className="number" data-head="Tokens out">
                {tokens.output.toLocaleString()}
              </td>
              <td className="number" data-head="Calls">
                {turns.toLocaleString()}
              </td>
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
