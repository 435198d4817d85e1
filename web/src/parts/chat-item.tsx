import { memo } from 'react'
import { renderEvent } from '../../../src/cli/text/render.ts'
import type { Item } from '../data/timeline.ts'
import styles from './chat-item.module.css'
import { Markdown } from './markdown.tsx'

const said: ReadonlySet<string> = new Set([
  'agent.message',
  'agent.thinking',
  'message.sent',
  'question.answered',
  'session.reset',
  'session.rebuilt',
])

/** What belongs into a conversation; the rest is on the screen of the task. */
export const isSaid = (item: Item) => item.kind === 'tool' || said.has(item.event.type)

/** One thing that the agent said or did. Tools and thoughts are folded. */
export const ChatItem = memo(function ChatItem({ item }: { item: Item }) {
  const { event } = item
  if (item.kind === 'tool') {
    const { returned } = item
    const state = !returned ? 'running' : returned.data.isError ? 'failed' : ''
    return (
      <details className={styles.fold}>
        <summary>
          <strong>{item.event.data.tool}</strong> <span className="faint">{brief(item.event.data.input)}</span>{' '}
          {state && <span className={state === 'failed' ? styles.bad : 'faint'}>{state}</span>}
        </summary>
        <pre>{start(written(item.event.data.input))}</pre>
        {returned && <pre>{start(returned.data.output)}</pre>}
      </details>
    )
  }
  if (event.type === 'agent.message' || event.type === 'message.sent') return <Markdown text={event.data.text} />
  if (event.type === 'agent.thinking')
    return (
      <details className={styles.fold}>
        <summary>
          thought <span className="faint">{event.data.text.trim().split('\n')[0]?.slice(0, 120)}</span>
        </summary>
        <pre>{start(event.data.text)}</pre>
      </details>
    )
  return <p className="small faint">{renderEvent(event)}</p>
})

const most = 4_000
/** The screen of the task has all of it. */
const start = (text: string) => (text.length > most ? `${text.slice(0, most)}…` : text)

/** The first text in what a tool was given tells most of it. */
function brief(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input ?? '').slice(0, 120)
  const text = Object.values(input).find((value) => typeof value === 'string' && value !== '')
  return String(text ?? '')
    .split('\n')[0]!
    .slice(0, 120)
}

const written = (input: unknown) => (typeof input === 'string' ? input : JSON.stringify(input, null, 2))
