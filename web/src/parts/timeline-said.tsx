import { formatElapsed, formatTime } from '../../../src/cli/text/format.ts'
import { renderEvent, toneOf } from '../../../src/cli/text/render.ts'
import type { Event } from '../../../src/domain/event/event.ts'
import type { EventItem } from '../data/timeline.ts'
import { Badge } from './badge.tsx'
import { Markdown } from './markdown.tsx'
import { oneLine } from './one-line.ts'
import styles from './timeline-item.module.css'
import { TimelineOutput } from './timeline-output.tsx'
import type { ItemProps } from './timeline-tool.tsx'

const most = 4_000

/** An event that is no tool: what was said, thought, decided, waited for. */
export function TimelineSaid({ item: { event }, isOpen, onToggle }: { item: EventItem } & ItemProps) {
  switch (event.type) {
    case 'agent.message':
    case 'message.sent':
      return <Message event={event} isOpen={isOpen} onToggle={onToggle} />
    case 'agent.thinking':
      return <Folded event={event} word="thought" text={event.data.text} isOpen={isOpen} onToggle={onToggle} />
    case 'agent.stderr':
      return <Folded event={event} word="standard error" text={event.data.text} isOpen={isOpen} onToggle={onToggle} />
    case 'permission.decided':
      return <Decision event={event} />
    case 'agent.retrying':
    case 'task.requeued':
    case 'task.parked':
      return <Wait event={event} />
    case 'question.answered':
      return (
        <span className={styles.said}>
          <strong>{oneLine(event.data.by, 100)}</strong> answered: {event.data.answer}
        </span>
      )
    default:
      return <span className={`${styles.said} ${styles[toneOf(event)]}`}>{renderEvent(event)}</span>
  }
}

type Of<T extends Event['type']> = Extract<Event, { type: T }>

function Message({ event, isOpen, onToggle }: { event: Of<'agent.message' | 'message.sent'> } & ItemProps) {
  const { text } = event.data
  const isLong = text.length > most
  return (
    <>
      {event.type === 'message.sent' && <span className="small faint">sent to you</span>}
      <Markdown text={isLong && !isOpen ? `${text.slice(0, most)}…` : text} />
      {isLong && (
        <button type="button" className={`quiet small ${styles.more}`} aria-expanded={isOpen} onClick={() => onToggle(event.seq)}>
          {isOpen ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </>
  )
}

function Folded({ event, word, text, isOpen, onToggle }: { event: Event; word: string; text: string } & ItemProps) {
  return (
    <>
      <button type="button" className={styles.line} aria-expanded={isOpen} onClick={() => onToggle(event.seq)}>
        <span className={styles.sign} aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <span className={`faint ${styles.word}`}>{word}</span>
        <span className={`one-line faint ${styles.brief}`}>{oneLine(text, 200)}</span>
      </button>
      {isOpen && <TimelineOutput text={text} label={word} />}
    </>
  )
}

/** Who decided, by which rule, and why. */
function Decision({ event: { data } }: { event: Of<'permission.decided'> }) {
  return (
    <div className={styles.decision}>
      <Badge tone={data.verdict === 'allowed' ? 'good' : 'bad'}>{data.verdict}</Badge>
      <span className={styles.tool}>{oneLine(data.tool, 60)}</span>
      <code className={styles.call}>{oneLine(data.call, 400)}</code>
      <span className={`small faint ${styles.because}`}>
        {oneLine(data.why, 400)} · decided by {oneLine(data.from, 100)}
        {data.rule !== undefined && (
          <>
            , rule <code>{oneLine(data.rule, 200)}</code>
          </>
        )}
      </span>
    </div>
  )
}

/** That it goes on later, why, and how long it waits for that. */
function Wait({ event }: { event: Of<'agent.retrying' | 'task.requeued' | 'task.parked'> }) {
  if (event.type === 'agent.retrying') {
    const { attempt, of, delayMs, detail } = event.data
    return (
      <span className={`${styles.said} ${styles.ask}`}>
        The program asks its model again, try {attempt}
        {of !== undefined && ` of ${of}`}
        {delayMs !== undefined && delayMs > 0 && `, after ${formatElapsed(delayMs)}`}: {oneLine(detail, 400)}
      </span>
    )
  }
  if (event.type === 'task.parked') {
    const { kind, until, detail } = event.data
    const waitMs = Date.parse(until) - Date.parse(event.at)
    return (
      <span className={`${styles.said} ${styles.ask}`}>
        Parked until {formatTime(until)}, for {formatElapsed(Math.max(0, waitMs))} ({oneLine(kind, 60).replaceAll('_', ' ')})
        {detail !== undefined && `: ${oneLine(detail, 400)}`}
      </span>
    )
  }
  return <span className={styles.said}>{renderEvent(event)}</span>
}
