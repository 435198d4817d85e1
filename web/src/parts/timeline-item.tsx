import { memo } from 'react'
import { formatClock } from '../../../src/cli/format.ts'
import { renderEvent, toneOf } from '../../../src/cli/render.ts'
import type { Item } from '../data/timeline.ts'
import { Markdown } from './markdown.tsx'
import styles from './timeline-item.module.css'

/** One thing that happened. What an agent says is read as markdown; tools are one line until they are opened. */
export const TimelineItem = memo(function TimelineItem({
  item,
  isOpen,
  onToggle,
}: {
  item: Item
  isOpen: boolean
  onToggle: (seq: number) => void
}) {
  const { event } = item
  return (
    <div className={styles.item}>
      <time className={styles.time} dateTime={event.at} title={new Date(event.at).toLocaleString()}>
        {formatClock(event.at)}
      </time>
      <div className={styles.body}>
        {item.kind === 'tool' ? (
          <Tool item={item} isOpen={isOpen} onToggle={onToggle} />
        ) : (
          <Said item={item} isOpen={isOpen} onToggle={onToggle} />
        )}
      </div>
    </div>
  )
})

const most = 4_000

function Said({
  item: { event },
  isOpen,
  onToggle,
}: {
  item: Extract<Item, { kind: 'event' }>
  isOpen: boolean
  onToggle: (seq: number) => void
}) {
  if (event.type === 'agent.message' || event.type === 'message.sent') {
    const { text } = event.data
    const isLong = text.length > most
    return (
      <>
        <Markdown text={isLong && !isOpen ? `${text.slice(0, most)}…` : text} />
        {isLong && (
          <button type="button" className="quiet small" aria-expanded={isOpen} onClick={() => onToggle(event.seq)}>
            {isOpen ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
          </button>
        )}
      </>
    )
  }
  if (event.type === 'agent.thinking' || event.type === 'agent.stderr') {
    const label = event.type === 'agent.thinking' ? 'thought' : 'standard error'
    return (
      <>
        <button type="button" className={styles.line} aria-expanded={isOpen} onClick={() => onToggle(event.seq)}>
          <span className={styles.sign} aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
          <span className="faint">{label}</span>
          <span className="one-line faint">{event.data.text.trim().split('\n')[0]}</span>
        </button>
        {isOpen && <pre className={styles.text}>{event.data.text}</pre>}
      </>
    )
  }
  return <span className={`${styles.said} ${styles[toneOf(event)]}`}>{renderEvent(event)}</span>
}

function Tool({
  item: { event, returned },
  isOpen,
  onToggle,
}: {
  item: Extract<Item, { kind: 'tool' }>
  isOpen: boolean
  onToggle: (seq: number) => void
}) {
  const state = !returned ? 'running' : returned.data.isError ? 'failed' : 'done'
  return (
    <>
      <button type="button" className={styles.line} aria-expanded={isOpen} onClick={() => onToggle(event.seq)}>
        <span className={styles.sign} aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <strong>{event.data.tool}</strong>
        <span className="one-line faint">{brief(event.data.input)}</span>
        <span className={`small ${state === 'failed' ? styles.bad : 'faint'}`}>{state === 'done' ? '' : state}</span>
      </button>
      {isOpen && (
        <>
          <pre className={styles.text}>{written(event.data.input)}</pre>
          {returned && <pre className={`${styles.text} ${returned.data.isError ? styles.bad : ''}`}>{returned.data.output}</pre>}
        </>
      )}
    </>
  )
}

const telling = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt']

/** What tells most of a tool's input, in a line. */
function brief(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input ?? '')
  const fields = input as Record<string, unknown>
  const named = telling.map((name) => fields[name]).find((value) => typeof value === 'string' || Array.isArray(value))
  return (Array.isArray(named) ? named.join(' ') : ((named as string | undefined) ?? JSON.stringify(input))).slice(0, 300)
}

const written = (input: unknown) => (typeof input === 'string' ? input : JSON.stringify(input, null, 2))
