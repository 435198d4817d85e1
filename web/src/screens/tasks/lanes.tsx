import { useQuery } from '@tanstack/react-query'
import { type RefObject, useRef, useState } from 'react'
import { type Column, columns } from '../../../../src/domain/task/column.ts'
import { asked } from '../../data/asked.ts'
import { type TaskQuery, useTaskPages } from '../../data/task-pages.ts'
import { Empty } from '../../parts/states.tsx'
import styles from '../tasks.module.css'
import { Lane, type LaneHandle } from './lane.tsx'
import type { Selection } from './selection.ts'

export type Lanes = RefObject<(LaneHandle | null)[]>

const titles: Record<Column, string> = {
  working: 'Working',
  needs_you: 'Needs you',
  review: 'In review',
  waiting: 'Queued and parked',
  done: 'Done and failed',
}

/** All in one line, the newest first. */
export function ListView({ query, selection, lanes }: { query: TaskQuery; selection: Selection; lanes: Lanes }) {
  const listed = useTaskPages(query)
  return (
    <Lane
      ref={(handle) => {
        lanes.current = [handle]
      }}
      label="All that fit"
      listed={listed}
      selection={selection}
      rowHeight={58}
      empty={
        <Empty title="No task is like that.">
          <p className="faint">
            <code>pawl run "…"</code> in a terminal makes one.
          </p>
        </Empty>
      }
    />
  )
}

/** By where they stand, which nobody sets: it follows from what is true of them. */
export function BoardView({ query, selection, lanes }: { query: TaskQuery; selection: Selection; lanes: Lanes }) {
  const { sort: _, ...narrowed } = query
  const counts = useQuery(asked.board(narrowed))
  const countOf = (column: Column) => counts.data?.[column].toLocaleString() ?? ''
  const board = useRef<HTMLElement>(null)
  const [seen, setSeen] = useState(0)
  return (
    <>
      <ColumnBar countOf={countOf} seen={seen} show={(n) => scrollToColumn(board.current, n)} />
      <section
        ref={board}
        className={styles.board}
        aria-label="Board"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget }) => setSeen(seenColumn(currentTarget))}
      >
        {columns.map((column, n) => (
          <section key={column} className={styles.column} aria-labelledby={`column-${column}`}>
            <h2 id={`column-${column}`}>
              {titles[column]} <span className="faint">{countOf(column)}</span>
            </h2>
            <BoardColumn column={column} query={query} selection={selection} lanes={lanes} place={n} />
          </section>
        ))}
      </section>
    </>
  )
}

const shortTitles: Record<Column, string> = {
  working: 'Working',
  needs_you: 'Needs you',
  review: 'Review',
  waiting: 'Waiting',
  done: 'Done',
}

/** On a phone, which has room for one column: how much is in each, and the way there. */
function ColumnBar({
  countOf,
  seen,
  show,
}: {
  countOf: (column: Column) => string
  seen: number
  show: (place: number) => void
}) {
  return (
    <nav className={styles.columnBar} aria-label="Columns">
      {columns.map((column, n) => (
        <button key={column} type="button" aria-current={n === seen} onClick={() => show(n)}>
          <strong>{countOf(column)}</strong>
          {shortTitles[column]}
        </button>
      ))}
    </nav>
  )
}

const seenColumn = ({ scrollLeft, scrollWidth }: HTMLElement) => Math.round((scrollLeft / scrollWidth) * columns.length)

function scrollToColumn(board: HTMLElement | null, place: number): void {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  board?.scrollTo({ left: (board.scrollWidth / columns.length) * place, behavior: isCalm ? 'instant' : 'smooth' })
}

function BoardColumn({
  column,
  query,
  selection,
  lanes,
  place,
}: {
  column: Column
  query: TaskQuery
  selection: Selection
  lanes: Lanes
  place: number
}) {
  const listed = useTaskPages({ ...query, columns: [column], sort: column === 'done' ? 'ended' : 'created' })
  const handle = useRef<LaneHandle>(null)
  return (
    <Lane
      ref={(now) => {
        handle.current = now
        lanes.current[place] = now
      }}
      label={titles[column]}
      listed={listed}
      selection={selection}
      rowHeight={92}
      empty={<p className={`faint small ${styles.none}`}>None.</p>}
    />
  )
}
