import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { taskStates } from '../../../../src/domain/task/task.ts'
import { asked } from '../../data/asked.ts'
import styles from '../tasks.module.css'

/** What the address says of which tasks are shown and how. */
export interface Search {
  readonly view?: string
  readonly state?: string
  readonly agent?: string
  readonly tag?: string
  readonly text?: string
  readonly session?: string
}

export function Filters({
  search,
  narrow,
  field,
}: {
  search: Search
  narrow: (changes: Search) => void
  field: RefObject<HTMLInputElement | null>
}) {
  const agents = useQuery(asked.agents)
  const names = agents.data?.map(({ name }) => name) ?? []
  return (
    <search className={styles.filters}>
      <TextFilter label="Text" type="search" text={search.text ?? ''} field={field} onText={(text) => narrow({ text })} />
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
        <select value={search.agent ?? ''} onChange={(event) => narrow({ agent: event.target.value })}>
          <option value="">all</option>
          {search.agent && !names.includes(search.agent) && <option>{search.agent}</option>}
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <TextFilter label="Tag" type="text" text={search.tag ?? ''} onText={(tag) => narrow({ tag: tag.trim() })} />
    </search>
  )
}

function TextFilter({
  label,
  type,
  text,
  field,
  onText,
}: {
  label: string
  type: 'search' | 'text'
  text: string
  field?: RefObject<HTMLInputElement | null>
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
      <span>{label}</span>
      <input ref={field} type={type} value={written} onChange={(event) => setWritten(event.target.value)} />
    </label>
  )
}
