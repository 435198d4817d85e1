import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { messageOf } from '../../../src/domain/error.ts'
import type { ScheduleChanges, ScheduleSummary, TickView } from '../../../src/domain/schedule/schedule.ts'
import { asked } from '../data/asked.ts'
import { pawl } from '../data/pawl.ts'
import { Badge } from '../parts/badge.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Countdown, Since } from '../parts/time.tsx'
import { Wide } from '../parts/wide.tsx'
import { EditSchedule } from './schedules/edit-form.tsx'
import { Undo } from './schedules/undo.tsx'
import styles from './schedules.module.css'

/** Tasks that come again: when next, and how the last ones went. */
export default function Schedules() {
  const schedules = useQuery(asked.schedules)
  return (
    <div className="stack">
      <div className="row">
        <h1>Schedules</h1>
        <Link to="/new">New schedule</Link>
      </div>
      <Shown asked={schedules}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="Nothing is scheduled.">
              <p className="faint">
                <code>pawl schedules add --every 2h "look for flaky tests"</code> makes one, and so does{' '}
                <Link to="/new">New task</Link> with a time.
              </p>
            </Empty>
          ) : (
            <ul className={styles.schedules}>
              {found.map((schedule) => (
                <Schedule key={schedule.id} schedule={schedule} />
              ))}
            </ul>
          )
        }
      </Shown>
    </div>
  )
}

function Schedule({ schedule }: { schedule: ScheduleSummary }) {
  const { id, health, lastTick } = schedule
  const [isOpen, setOpen] = useState(false)
  const [isSure, setSure] = useState(false)
  const [isEditing, setEditing] = useState(false)
  const [undo, setUndo] = useState<ScheduleChanges>()
  const pause = useMutation({
    mutationFn: () => (schedule.state === 'paused' ? pawl.resumeSchedule(id) : pawl.pauseSchedule(id)),
  })
  const run = useMutation({ mutationFn: () => pawl.runSchedule(id) })
  const remove = useMutation({ mutationFn: () => pawl.removeSchedule(id) })
  const failed = [pause, run, remove].find(({ isError }) => isError)
  return (
    <li className={`card stack ${health.healthy ? '' : styles.sick}`}>
      <div className="row">
        <h2>{schedule.name ?? schedule.id}</h2>
        <Badge tone={schedule.state === 'active' ? 'good' : 'faint'}>{schedule.state}</Badge>
        {!health.healthy && (
          <Badge tone="bad">{health.failedInARow > 0 ? `${health.failedInARow} failed in a row` : 'stuck'}</Badge>
        )}
      </div>
      <div className="row small faint">
        <span>{schedule.says}</span>
        <span>{schedule.agent ?? 'the default agent'}</span>
        {schedule.nextAt && schedule.state === 'active' && (
          <span>
            next in <Countdown to={schedule.nextAt} />
          </span>
        )}
        {lastTick && (
          <span>
            last <Since at={lastTick.firedAt} />: {lastTick.state}
          </span>
        )}
      </div>
      <p className="one-line">{schedule.prompt}</p>
      {!health.healthy && <p>{health.detail}</p>}
      <div className="row">
        <button type="button" disabled={run.isPending} onClick={() => run.mutate()}>
          Run now
        </button>
        {schedule.state !== 'done' && (
          <button type="button" disabled={pause.isPending} onClick={() => pause.mutate()}>
            {schedule.state === 'paused' ? 'Go on' : 'Pause'}
          </button>
        )}
        {schedule.source === null && (
          <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
            Edit
          </button>
        )}
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide its history' : 'History'}
        </button>
        {isSure ? (
          <>
            <button type="button" className="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Remove it for good
            </button>
            <button type="button" onClick={() => setSure(false)}>
              Keep it
            </button>
          </>
        ) : (
          <button type="button" onClick={() => setSure(true)}>
            Remove
          </button>
        )}
        {failed && (
          <span role="alert" className={styles.refused}>
            {messageOf(failed.error)}
          </span>
        )}
      </div>
      {schedule.source !== null && <p className="small faint">It stands in {schedule.source} and is changed there.</p>}
      {undo && <Undo id={id} changes={undo} onDone={() => setUndo(undefined)} />}
      {isEditing && (
        <EditSchedule
          id={id}
          onDone={(undo) => {
            setEditing(false)
            setUndo(undo)
          }}
        />
      )}
      {isOpen && <History id={id} />}
    </li>
  )
}

function History({ id }: { id: string }) {
  const schedule = useQuery(asked.schedule(id))
  return (
    <Shown asked={schedule}>
      {({ next, ticks }) => (
        <div className="stack">
          {next.length > 0 && (
            <p className="small">
              <span className="faint">Next:</span>{' '}
              {next.map(({ at, local }) => (
                <time key={at} dateTime={at} className={styles.next}>
                  {local}
                </time>
              ))}
            </p>
          )}
          <Strip ticks={ticks} />
          {ticks.length === 0 ? <p className="faint">It has not come yet.</p> : <Ticks ticks={ticks} />}
        </div>
      )}
    </Shown>
  )
}

const marks: Record<TickView['state'], string> = {
  succeeded: styles.good ?? '',
  failed: styles.bad ?? '',
  empty: styles.bad ?? '',
  running: styles.busy ?? '',
  waiting: styles.busy ?? '',
  skipped: styles.left ?? '',
  missed: styles.left ?? '',
  cancelled: styles.left ?? '',
}

/** How the last ones went, the oldest first, at a glance; the table below says the same. */
function Strip({ ticks }: { ticks: readonly TickView[] }) {
  if (ticks.length < 2) return null
  const good = ticks.filter(({ state }) => state === 'succeeded').length
  return (
    <div className={styles.strip} role="img" aria-label={`${good} of the last ${ticks.length} went well.`}>
      {ticks.toReversed().map((tick) => (
        <span
          key={`${tick.dueAt} ${tick.firedAt}`}
          className={marks[tick.state]}
          title={`${new Date(tick.dueAt).toLocaleString()}: ${tick.state}`}
        />
      ))}
    </div>
  )
}

function Ticks({ ticks }: { ticks: readonly TickView[] }) {
  return (
    <Wide label="Times it came">
      <table className="folds">
        <thead>
          <tr>
            <th scope="col">Due</th>
            <th scope="col">How it went</th>
            <th scope="col">Task</th>
          </tr>
        </thead>
        <tbody>
          {ticks.map((tick) => (
            <tr key={`${tick.dueAt} ${tick.firedAt}`}>
              <td>{new Date(tick.dueAt).toLocaleString()}</td>
              <td className={tick.state === 'failed' || tick.state === 'empty' ? styles.refused : ''}>
                {tick.state}
                {tick.manual && ' (by hand)'}
                {tick.detail && <span className="faint"> {tick.detail}</span>}
              </td>
              <td>
                {tick.task && (
                  <Link to="/tasks/$task" params={{ task: tick.task }}>
                    {tick.taskState?.replaceAll('_', ' ') ?? 'show'}
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  )
}
