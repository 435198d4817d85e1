import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type TaskState, taskStates } from '../../../src/domain/task/task.ts'
import { useKeys } from '../app/keys.ts'
import { pawl } from '../data/pawl.ts'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { TaskLine } from '../parts/task-line.tsx'
import styles from './tasks.module.css'

interface Search {
  readonly state?: string
  readonly agent?: string
  readonly tag?: string
  readonly text?: string
}

const isState = (text: string): text is TaskState => taskStates.some((state) => state === text)

/** All tasks, newest first, narrowed by state, agent, tag and text. */
export default function Tasks() {
  const search = textsOf(useSearch({ strict: false }))
  const navigate = useNavigate()
  const states = search.state?.split(',').filter(isState)
  const narrow = (changes: Search) => void navigate({ to: '/tasks', search: clean({ ...search, ...changes }), replace: true })
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  return (
    <div className={styles.screen}>
      <h1>Tasks</h1>
      <div className={styles.filters}>
        <TextFilter text={search.text ?? ''} field={field} onText={(text) => narrow({ text })} />
        <label>
          <span>State</span>
          <select value={search.state ?? ''} onChange={(event) => narrow({ state: event.target.value })}>
            <option value="">all</option>
            {search.state?.includes(',') && <option value={search.state}>{search.state.replaceAll(',', ', ')}</option>}
            {taskStates.map((state) => (
              <option key={state} value={state}>
                {state.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Agent</span>
          <input defaultValue={search.agent ?? ''} onBlur={(event) => narrow({ agent: event.target.value.trim() })} />
        </label>
        <label>
          <span>Tag</span>
          <input defaultValue={search.tag ?? ''} onBlur={(event) => narrow({ tag: event.target.value.trim() })} />
        </label>
      </div>
      <List filter={clean({ states, agent: search.agent, tag: search.tag, text: search.text })} />
    </div>
  )
}

function TextFilter({
  text,
  field,
  onText,
}: {
  text: string
  field: React.RefObject<HTMLInputElement | null>
  onText: (text: string) => void
}) {
  const [written, setWritten] = useState(text)
  const told = useRef(text)
  useEffect(() => {
    if (text === told.current) return
    // Not from here: by the browser's "back", or by a link.
    told.current = text
    setWritten(text)
  }, [text])
  useEffect(() => {
    if (written === told.current) return
    const timer = setTimeout(() => {
      told.current = written
      onText(written)
    }, 300)
    return () => clearTimeout(timer)
  }, [written, onText])
  return (
    <label>
      <span>Text</span>
      <input ref={field} type="search" value={written} onChange={(event) => setWritten(event.target.value)} />
    </label>
  )
}

interface Filter {
  readonly states?: readonly TaskState[]
  readonly agent?: string
  readonly tag?: string
  readonly text?: string
}

/** Only what is seen is in the page: thousands of tasks cost as much as twenty. */
function List({ filter }: { filter: Filter }) {
  const pages = useInfiniteQuery({
    queryKey: ['tasks', 'pages', filter],
    queryFn: ({ pageParam }) => pawl.listTasks({ ...filter, limit: 100, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (before) => before,
  })
  const tasks = useMemo(() => pages.data?.pages.flatMap(({ items }) => items) ?? [], [pages.data])
  const box = useRef<HTMLElement>(null)
  // A task that comes on top must not put another one under the focus.
  const getItemKey = useCallback((index: number) => tasks[index]?.id ?? index, [tasks])
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => box.current,
    estimateSize: () => 58,
    getItemKey,
    overscan: 12,
  })
  const seen = rows.getVirtualItems()
  const last = seen.at(-1)?.index ?? 0
  useEffect(() => {
    const mayAsk = pages.hasNextPage && !pages.isFetchingNextPage && !pages.isFetchNextPageError
    if (last >= tasks.length - 20 && mayAsk) void pages.fetchNextPage()
  }, [last, tasks.length, pages])
  if (pages.isError && tasks.length === 0) return <Failure error={pages.error} again={() => void pages.refetch()} />
  if (pages.isPending) return <Loading />
  if (tasks.length === 0)
    return (
      <Empty title="No task is like that.">
        <p className="faint">
          <code>pawl run "…"</code> in a terminal makes one.
        </p>
      </Empty>
    )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={box} className={`card ${styles.list}`} tabIndex={0} aria-label="All that fit">
      <ul style={{ height: rows.getTotalSize() }}>
        {seen.map(({ index, key, start }) => (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className={styles.row}
            style={{ transform: `translateY(${start}px)` }}
          >
            <TaskLine task={tasks[index]!} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** An address may be written by hand, and the router reads a number as one. */
const textsOf = (found: object): Search => Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]))

/** Without what is empty. */
const clean = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
