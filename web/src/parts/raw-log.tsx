import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import type { RunLogPart } from '../../../src/domain/view/run-log.ts'
import type { TaskView } from '../../../src/domain/view/view.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import styles from './raw-log.module.css'
import { Empty, Shown } from './states.tsx'

type Stream = 'stdout' | 'stderr'
const pieceBytes = 64 * 1024

/** What the program of a run wrote itself. Asked for only when somebody opens it, or has it opened with `alwaysOpen`. */
export function RawLog({ task, alwaysOpen = false }: { task: Pick<TaskView, 'id' | 'runs'>; alwaysOpen?: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const started = task.runs.filter(({ startedAt }) => startedAt !== null)
  if (started.length === 0) return alwaysOpen ? <Empty title="No run has started yet." /> : null
  const log = <Log task={task.id} runs={started} numbers={new Map(task.runs.map((run, at) => [run.id, at + 1]))} />
  if (alwaysOpen) return log
  return (
    <section className="stack">
      <div>
        <button type="button" aria-expanded={isOpen} aria-controls={isOpen ? id : undefined} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Close' : 'Open'} the raw log
        </button>
      </div>
      {isOpen && (
        <div id={id} className="stack">
          {log}
        </div>
      )}
    </section>
  )
}

interface LogProps {
  readonly task: string
  readonly runs: TaskView['runs']
  readonly numbers: ReadonlyMap<string, number>
}

function Log({ task, runs, numbers }: LogProps) {
  const [chosen, setChosen] = useState<string>()
  const [stream, setStream] = useState<Stream>('stdout')
  const run = runs.find(({ id }) => id === chosen) ?? runs.at(-1)!
  const end = useQuery(asked.runLog(task, run.id, stream, pieceBytes))
  const address = `/api/v1/tasks/${task}/runs/${run.id}/log?stream=${stream}`
  return (
    <>
      <div className="row">
        {runs.length > 1 && (
          <select
            aria-label="Which run"
            className={styles.choice}
            value={run.id}
            onChange={(event) => setChosen(event.target.value)}
          >
            {runs.map(({ id, outcome, state }) => (
              <option key={id} value={id}>
                Run {numbers.get(id)}: {outcome?.replaceAll('_', ' ') ?? state}
              </option>
            ))}
          </select>
        )}
        <select
          aria-label="Which output"
          className={styles.choice}
          value={stream}
          onChange={(event) => setStream(event.target.value as Stream)}
        >
          <option value="stdout">stdout</option>
          <option value="stderr">stderr</option>
        </select>
        <a className="button" href={address} download={`${run.id}-${stream}.log`}>
          Download
        </a>
      </div>
      <Shown asked={end}>{(part) => <Text key={`${run.id} ${stream}`} task={task} last={part} />}</Shown>
    </>
  )
}

/** The end of it, with what comes before on demand. */
function Text({ task, last }: { task: string; last: RunLogPart }) {
  const [earlier, setEarlier] = useState<readonly RunLogPart[]>([])
  const [trouble, setTrouble] = useState<string>()
  const box = useRef<HTMLElement>(null)
  const client = useQueryClient()
  // It grows at its end, which is what somebody wants to see of a run that goes on.
  useEffect(() => {
    if (box.current && last.size > 0) box.current.scrollTop = box.current.scrollHeight
  }, [last.size])
  const start = earlier[0]?.start ?? last.start
  const load = async () => {
    try {
      const from = Math.max(0, start - pieceBytes)
      const part = await pawl.readRunLog(task, last.run, { stream: last.stream, start: from, length: start - from })
      setEarlier((before) => [part, ...before])
      setTrouble(undefined)
    } catch (error) {
      setTrouble(messageOf(error))
      void client.invalidateQueries({ queryKey: asked.me.queryKey })
    }
  }
  if (last.size === 0) return <Empty title="It wrote nothing." />
  // While a run goes on its end moves: what lies between is asked for with what comes before it.
  const known = earlier.at(-1)
  const text =
    known && known.end < last.start ? `${earlier.map((part) => part.text).join('')}\n…\n${last.text}` : joined(earlier, last)
  return (
    <div className="stack">
      <p className="row small faint">
        <span>
          {start === 0 ? 'All' : 'The end'} of {bytes(last.size)}; known secrets are left out.
        </span>
        {start > 0 && (
          <button type="button" onClick={() => void load()}>
            Show more from before
          </button>
        )}
      </p>
      {trouble !== undefined && <p role="alert">{trouble}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section ref={box} className={styles.text} tabIndex={0} aria-label={`What the program wrote to ${last.stream}`}>
        <pre>{text}</pre>
      </section>
    </div>
  )
}

const joined = (earlier: readonly RunLogPart[], last: RunLogPart) => [...earlier, last].map(({ text }) => text).join('')

const bytes = (count: number) =>
  count < 1024
    ? `${count} bytes`
    : count < 1024 * 1024
      ? `${(count / 1024).toFixed(1)} KB`
      : `${(count / 1024 / 1024).toFixed(1)} MB`
