import { useMemo } from 'react'
import { formatElapsed } from '../../../src/cli/text/format.ts'
import type { ToolItem } from '../data/timeline.ts'
import { Markdown } from './markdown.tsx'
import { oneLine } from './one-line.ts'
import { TimelineDiff } from './timeline-diff.tsx'
import { editsOf } from './timeline-edits.ts'
import styles from './timeline-item.module.css'
import { TimelineOutput } from './timeline-output.tsx'

export interface ItemProps {
  readonly isOpen: boolean
  readonly onToggle: (seq: number) => void
  /** What its subagent did is not shown. */
  readonly isFolded?: boolean
  readonly onFold?: (seq: number) => void
}

/** A call of a tool in one line; opened, what went in and what came back: edits as a diff, commands as on a terminal, the rest as it was. */
export function TimelineTool({ item, isOpen, onToggle, isFolded = false, onFold }: { item: ToolItem } & ItemProps) {
  const { event, returned, steps } = item
  const { tool, input } = event.data
  return (
    <>
      <div className={styles.head}>
        <button type="button" className={styles.line} aria-expanded={isOpen} onClick={() => onToggle(event.seq)}>
          <span className={styles.sign} aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
          <span className={styles.tool}>{oneLine(tool, 60)}</span>
          <span className={`one-line faint ${styles.brief}`}>{briefOf(input)}</span>
          <State item={item} />
        </button>
        {steps !== undefined && onFold && (
          <button type="button" className={`small ${styles.fold}`} aria-expanded={!isFolded} onClick={() => onFold(event.seq)}>
            {isFolded ? 'Show' : 'Hide'} {steps} {steps === 1 ? 'step' : 'steps'}
          </button>
        )}
      </div>
      {isOpen && <Opened item={item} isSubagent={steps !== undefined} />}
      {!isOpen && returned?.data.isError && <p className={`${styles.bad} ${styles.why}`}>{oneLine(returned.data.output, 240)}</p>}
    </>
  )
}

function State({ item: { event, returned } }: { item: ToolItem }) {
  if (!returned) return <span className={`small faint ${styles.state}`}>no answer yet</span>
  const tookMs = Date.parse(returned.at) - Date.parse(event.at)
  if (returned.data.isError) return <span className={`small ${styles.state} ${styles.bad}`}>failed</span>
  return tookMs < 2_000 ? null : <span className={`small faint number ${styles.state}`}>{formatElapsed(tookMs)}</span>
}

function Opened({ item: { event, returned }, isSubagent }: { item: ToolItem; isSubagent: boolean }) {
  const { tool, input } = event.data
  const edits = useMemo(() => editsOf(tool, input), [tool, input])
  const command = commandOf(input)
  return (
    <div className={styles.opened}>
      {edits.map((edit) => (
        <TimelineDiff key={edit.path} edit={edit} />
      ))}
      {edits.length === 0 &&
        (command !== undefined ? (
          <pre className={styles.command}>
            <span aria-hidden="true" className="faint">
              ${' '}
            </span>
            {command}
          </pre>
        ) : (
          <TimelineOutput text={written(input)} label={`What went into ${tool}`} />
        ))}
      {returned &&
        (isSubagent && !returned.data.isError ? (
          <Markdown text={returned.data.output} />
        ) : returned.data.output.trim() === '' ? (
          <p className="small faint">Nothing came back.</p>
        ) : (
          <TimelineOutput text={returned.data.output} label={`What came back from ${tool}`} isBad={returned.data.isError} />
        ))}
    </div>
  )
}

const telling = [
  ...['command', 'cmd', 'file_path', 'filePath', 'path', 'notebook_path', 'pattern', 'query', 'url', 'description', 'subject'],
  ...['prompt', 'question', 'text'],
]

/** What tells most of a tool's input, in a line. */
function briefOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return oneLine(String(input ?? ''), 200)
  const fields = input as Record<string, unknown>
  const named = telling.map((name) => fields[name]).find((value) => typeof value === 'string' || isWords(value))
  if (named !== undefined) return oneLine(isWords(named) ? named.join(' ') : String(named), 200)
  const [question] = Array.isArray(fields.questions) ? (fields.questions as { question?: unknown }[]) : []
  if (typeof question?.question === 'string') return oneLine(question.question, 200)
  const changes = Array.isArray(fields.changes) ? fields.changes.map((change: { path?: unknown }) => change?.path) : []
  if (changes.length > 0) return oneLine(changes.filter((path) => typeof path === 'string').join(', '), 200)
  if (Array.isArray(fields.todos) || Array.isArray(fields.plan)) return 'its list of what is to be done'
  const all = JSON.stringify(input)
  return all === '{}' ? '' : oneLine(all, 200)
}

function commandOf(input: unknown): string | undefined {
  const { command, cmd } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const given = command ?? cmd
  return typeof given === 'string' ? given : isWords(given) ? given.join(' ') : undefined
}

const isWords = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === 'string')
const written = (input: unknown) => (typeof input === 'string' ? input : JSON.stringify(input, null, 2))
