import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import { type TaskState, taskStates } from '../../../src/domain/task/task.ts'
import { useKeys } from '../app/keys.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import type { TaskQuery } from '../data/task-pages.ts'
import { BulkBar } from './tasks/bulk-bar.tsx'
import { Filters, type Search } from './tasks/filters.tsx'
import { useLaneKeys } from './tasks/keys.ts'
import type { LaneHandle } from './tasks/lane.tsx'
import { BoardView, ListView } from './tasks/lanes.tsx'
import { type Chosen, type Selection, useSelection } from './tasks/selection.ts'
import styles from './tasks.module.css'

const isState = (text: string): text is TaskState => taskStates.some((state) => state === text)

/** All tasks, as a list or a board, narrowed by state, agent, tag and text. What is shown stands in the address. */
export default function Tasks() {
  const search = textsOf(useSearch({ strict: false }))
  const navigate = useNavigate()
  const narrow = (changes: Search) => void navigate({ to: '/tasks', search: clean({ ...search, ...changes }), replace: true })
  const field = useRef<HTMLInputElement>(null)
  const lanes = useRef<(LaneHandle | null)[]>([])
  const selection = useSelection()
  const isBoard = search.view === 'board'
  const { agent, tag, text, session } = search
  const query: TaskQuery = clean({ states: search.state?.split(',').filter(isState), agent, tag, text, session })
  useKeys({ '/': () => field.current?.focus(), v: () => narrow({ view: isBoard ? '' : 'board' }) })
  useLaneKeys(lanes, selection)
  const View = isBoard ? BoardView : ListView
  return (
    <div className={styles.screen}>
      <div className="row">
        <h1>Tasks</h1>
        <fieldset className={styles.views}>
          <legend className="hidden-but-read">Shown as</legend>
          {(['list', 'board'] as const).map((view) => (
            <label key={view}>
              <input
                type="radio"
                name="view"
                checked={isBoard === (view === 'board')}
                onChange={() => narrow({ view: view === 'board' ? 'board' : '' })}
              />
              {view === 'list' ? 'List' : 'Board'}
            </label>
          ))}
        </fieldset>
        <ChooseAll query={query} selection={selection} />
        <span className={`faint small ${styles.hint}`}>
          <kbd>j</kbd> <kbd>k</kbd> move · <kbd>x</kbd> chooses · <kbd>/</kbd> finds · <kbd>v</kbd> list or board
        </span>
      </div>
      <Filters search={search} narrow={narrow} field={field} />
      <BulkBar selection={selection} />
      <View query={query} selection={selection} lanes={lanes} />
    </div>
  )
}

/** Also those that were never scrolled to. */
function ChooseAll({ query, selection }: { query: TaskQuery; selection: Selection }) {
  const counts = useQuery(asked.board(query))
  const total = counts.data ? Object.values(counts.data).reduce((sum, count) => sum + count, 0) : 0
  const choose = useMutation({
    mutationFn: async () => {
      const found: Chosen[] = []
      for (let cursor: string | undefined; ; ) {
        const { items, next } = await pawl.listTasks({ ...query, limit: 200, cursor })
        found.push(...items)
        if (next === null) return found
        cursor = next
      }
    },
    onSuccess: (found) => selection.add(found),
  })
  if (total === 0) return null
  return (
    <>
      <button type="button" className="quiet" disabled={choose.isPending} onClick={() => choose.mutate()}>
        {choose.isPending ? 'Looking…' : `Choose all ${total.toLocaleString()}`}
      </button>
      {choose.isError && <span role="alert">{messageOf(choose.error)}</span>}
    </>
  )
}

/** An address may be written by hand, and the router reads a number as one. */
const textsOf = (found: object): Search => Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]))

/** Without what is empty. */
const clean = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
