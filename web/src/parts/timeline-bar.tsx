import { type RefObject, useRef } from 'react'
import { useKeys } from '../app/keys.ts'
import { type Filter, filters } from '../data/timeline-rows.ts'
import styles from './timeline-bar.module.css'
import type { Found } from './timeline-find.ts'

const names: Record<Filter, string> = { all: 'All', messages: 'Messages', tools: 'Tools', problems: 'Problems' }

/** What of the timeline is shown, and where in it something stands. */
export function TimelineBar(props: {
  filter: Filter
  onFilter(filter: Filter): void
  text: string
  onText(text: string): void
  found: Found
  /** Which of those found is looked at, from 0. */
  at: number
  onGo(step: 1 | -1): void
}) {
  const { filter, onFilter, text, onText, found, at, onGo } = props
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.select() })
  return (
    <div className={styles.bar}>
      <fieldset className={styles.filters}>
        <legend className="hidden-but-read">Show</legend>
        {filters.map((one) => (
          <button key={one} type="button" aria-pressed={one === filter} className="small" onClick={() => onFilter(one)}>
            {names[one]}
          </button>
        ))}
      </fieldset>
      <search className={styles.find}>
        <FindField field={field} text={text} onText={onText} onGo={onGo} />
        {text.trim() !== '' && (
          <>
            <span className="small faint" role="status">
              {found.places.length === 0
                ? found.isSearching
                  ? 'searching…'
                  : 'not found'
                : `${(Math.min(at, found.places.length - 1) + 1).toLocaleString()} of ${found.places.length.toLocaleString()}`}
            </span>
            <button type="button" aria-label="The one before" disabled={found.places.length === 0} onClick={() => onGo(-1)}>
              ↑
            </button>
            <button type="button" aria-label="The next one" disabled={found.places.length === 0} onClick={() => onGo(1)}>
              ↓
            </button>
          </>
        )}
      </search>
    </div>
  )
}

function FindField(props: {
  field: RefObject<HTMLInputElement | null>
  text: string
  onText(text: string): void
  onGo(step: 1 | -1): void
}) {
  const { field, text, onText, onGo } = props
  return (
    <input
      ref={field}
      type="search"
      aria-label="Find in what happened"
      placeholder="Find  ( / )"
      value={text}
      onChange={(event) => onText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') {
          event.preventDefault()
          onGo(event.shiftKey ? -1 : 1)
        } else if (event.key === 'Escape') {
          onText('')
          event.currentTarget.blur()
        }
      }}
    />
  )
}
