import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useImperativeHandle, useRef } from 'react'
import type { TaskSummary } from '../../../../src/domain/view/view.ts'
import type { useTaskPages } from '../../data/task-pages.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import styles from '../tasks.module.css'
import { Row } from './row.tsx'
import type { Selection } from './selection.ts'

/** What keys do to a lane. */
export interface LaneHandle {
  readonly tasks: readonly TaskSummary[]
  focus(index: number): void
}

/** Tasks one below the other. Only what is seen is in the page: thousands of tasks cost as much as twenty. */
export function Lane({
  label,
  listed: { pages, tasks },
  selection,
  empty,
  rowHeight,
  ref,
}: {
  label: string
  listed: ReturnType<typeof useTaskPages>
  selection: Selection
  empty: ReactNode
  rowHeight: number
  ref: React.Ref<LaneHandle>
}) {
  const box = useRef<HTMLElement>(null)
  // A task that comes on top must not put another one under the focus.
  const getItemKey = useCallback((index: number) => tasks[index]?.id ?? index, [tasks])
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey,
    overscan: 12,
  })
  const seen = rows.getVirtualItems()
  const last = seen.at(-1)?.index ?? 0
  useEffect(() => {
    const mayAsk = pages.hasNextPage && !pages.isFetchingNextPage && !pages.isFetchNextPageError
    if (last >= tasks.length - 40 && mayAsk) void pages.fetchNextPage()
  }, [last, tasks.length, pages])
  useImperativeHandle(ref, () => ({
    tasks,
    focus(index) {
      rows.scrollToIndex(index, { align: 'auto' })
      const id = tasks[index]?.id
      focusSoon(() => box.current?.querySelector<HTMLElement>(`[data-task="${id}"] a`))
    },
  }))
  if (pages.isError && tasks.length === 0) return <Failure error={pages.error} again={() => void pages.refetch()} />
  if (pages.isPending) return <Loading />
  if (tasks.length === 0) return empty
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={box} className={`card ${styles.list}`} tabIndex={0} aria-label={label}>
      <ul style={{ height: rows.getTotalSize() }}>
        {seen.map(({ index, key, start }) => (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className={styles.row}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Row task={tasks[index]!} order={tasks} selection={selection} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The row that was scrolled to is there a frame or two later. */
function focusSoon(find: () => HTMLElement | null | undefined, tries = 10): void {
  const found = find()
  if (found) found.focus({ preventScroll: true })
  else if (tries > 0) requestAnimationFrame(() => focusSoon(find, tries - 1))
}
