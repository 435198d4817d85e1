import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatElapsed } from '../../../../src/cli/text/format.ts'
import { messageOf } from '../../../../src/domain/error.ts'
import type { CheckView } from '../../../../src/domain/task/check.ts'
import type { TaskView } from '../../../../src/domain/view/view.ts'
import { asked } from '../../data/asked.ts'
import { pawl } from '../../data/pawl.ts'
import { Badge } from '../../parts/badge.tsx'
import { Shown } from '../../parts/states.tsx'
import { TimelineOutput } from '../../parts/timeline-output.tsx'
import styles from './task.module.css'

/** What Pawl ran itself to see whether the work is done, with all that it can be held against. */
export function Checks({ task }: { task: TaskView }) {
  const { data } = useQuery(asked.checks(task.id))
  const items = data?.items ?? []
  const again = useMutation({ mutationFn: () => pawl.recheckTask(task.id) })
  const verify = useMutation({ mutationFn: () => pawl.verifyTask(task.id) })
  if (items.length === 0 && !task.settings.checks) return null
  const rounds = [...new Set(items.map(({ round }) => round))].reverse()
  const failed = [again, verify].find(({ isError }) => isError)
  return (
    <section className="card stack" aria-labelledby="checks">
      <h2 id="checks">Checks</h2>
      {items.length === 0 && <p className="small faint">None was run yet.</p>}
      {rounds.map((round, n) => (
        <Round key={round} task={task} items={items.filter((item) => item.round === round)} isLast={n === 0} />
      ))}
      {data?.isChecking && <p role="status">They are being run again…</p>}
      {data?.trouble && <p className={styles.refused}>{data.trouble}</p>}
      {items.length > 0 && task.state !== 'running' && (
        <div className="row">
          <button type="button" disabled={verify.isPending} onClick={() => verify.mutate()}>
            Does it still hold?
          </button>
          {task.settings.checks && (
            <button type="button" disabled={again.isPending || data?.isChecking} onClick={() => again.mutate()}>
              Run them again
            </button>
          )}
        </div>
      )}
      {verify.data && (
        <p role="status" className={verify.data.verified ? styles.good : styles.refused}>
          {verify.data.why}
        </p>
      )}
      {failed && (
        <p role="alert" className={styles.refused}>
          {messageOf(failed.error)}
        </p>
      )}
    </section>
  )
}

function Round({ task, items, isLast }: { task: TaskView; items: readonly CheckView[]; isLast: boolean }) {
  const run = task.runs.find(({ id }) => id === items[0]?.run)
  const of = run ? `of attempt ${run.attempt}` : 'when somebody asked for them'
  const list = (
    <ul className={styles.plain}>
      {items.map((item) => (
        <Check key={item.number} task={task.id} check={item} />
      ))}
    </ul>
  )
  if (isLast)
    return (
      <div>
        <p className="small faint">The last ones, {of}</p>
        {list}
      </div>
    )
  return (
    <details>
      <summary className="small faint">Earlier, {of}</summary>
      {list}
    </details>
  )
}

function Check({ task, check }: { task: string; check: CheckView }) {
  const [isOpen, setOpen] = useState(false)
  const passed = check.exitCode === 0 && check.why === null
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles.check}>
          <Badge tone={passed ? 'good' : 'bad'}>{passed ? 'passed' : 'failed'}</Badge>
          <span className={styles.path}>{check.name}</span>
          <span className="small faint number">{formatElapsed(Date.parse(check.endedAt) - Date.parse(check.startedAt))}</span>
        </summary>
        {isOpen && <Evidence task={task} check={check} />}
      </details>
    </li>
  )
}

function Evidence({ task, check }: { task: string; check: CheckView }) {
  const output = useQuery(asked.checkOutput(task, check.number))
  return (
    <div className={styles.evidence}>
      <pre className={styles.command}>{check.command}</pre>
      <p className="small faint">
        {check.why ?? `Exit code ${check.exitCode ?? 'unknown'}`}
        {check.tree !== null && ` · tree ${check.tree.slice(0, 12)}`}
        {check.tree !== check.treeBefore && ', which it changed'} · link {check.hash.slice(0, 12)}
      </p>
      <Shown asked={output}>
        {({ output: text, leftOut }) =>
          text === null ? (
            <p className="small faint">Its output is not kept any more; only its digest is.</p>
          ) : text.trim() === '' ? (
            <p className="small faint">It printed nothing.</p>
          ) : (
            <>
              {leftOut > 0 && <p className="small faint">{leftOut.toLocaleString()} characters before are left out.</p>}
              <TimelineOutput text={text} label={`What ${check.name} printed`} />
            </>
          )
        }
      </Shown>
    </div>
  )
}
