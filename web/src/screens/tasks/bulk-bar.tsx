import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../../src/domain/error.ts'
import { isEnded, type TaskState } from '../../../../src/domain/task/task.ts'
import type { BulkResult, BulkWork } from '../../../../src/domain/view/bulk.ts'
import { pawl } from '../../data/pawl.ts'
import { titleOf } from '../../parts/task-line.tsx'
import styles from '../tasks.module.css'
import type { Selection } from './selection.ts'

type Work = Omit<BulkWork, 'tasks'>
type Verb = 'cancel' | 'retry' | 'delete' | 'priority' | 'tags'

const verbs: Record<
  Verb,
  { button: string; fits: (state: TaskState) => boolean; sure: (count: string) => string; does: string }
> = {
  cancel: { button: 'Cancel', fits: (state) => !isEnded(state), sure: (count) => `Stop ${count}?`, does: 'Stop them' },
  retry: {
    button: 'Try again',
    fits: (state) => isEnded(state) || ['blocked', 'parked', 'review'].includes(state),
    sure: (count) => `Queue ${count} again?`,
    does: 'Queue them',
  },
  delete: {
    button: 'Delete',
    fits: isEnded,
    sure: (count) => `Delete ${count} for good, with what they said?`,
    does: 'Delete for good',
  },
  priority: { button: 'Priority', fits: isChangeable, sure: (count) => `New priority of ${count}`, does: 'Set' },
  tags: { button: 'Tags', fits: isChangeable, sure: (count) => `Tags of ${count}`, does: 'Change' },
}

function isChangeable(state: TaskState): boolean {
  return !isEnded(state) && state !== 'running'
}

/** At most so many in one request: somebody waits for the answer. */
const atOnce = 500

async function changeAll(work: Work, tasks: readonly string[]): Promise<BulkResult> {
  const all: BulkResult = { done: [], refused: [] }
  for (let n = 0; n < tasks.length; n += atOnce) {
    const part = await pawl.changeTasks({ ...work, tasks: tasks.slice(n, n + atOnce) })
    all.done.push(...part.done)
    all.refused.push(...part.refused)
  }
  return all
}

/** What can be done to all chosen tasks. Each is asked about once more, and what was refused is told by name. */
export function BulkBar({ selection }: { selection: Selection }) {
  const [verb, setVerb] = useState<Verb>()
  const change = useMutation({
    mutationFn: ({ work, tasks }: { work: Work; tasks: string[] }) => changeAll(work, tasks),
    onSuccess: ({ done }, { work }) => {
      setVerb(undefined)
      if (work.action === 'delete') selection.remove(done)
    },
  })
  const chosen = [...selection.chosen.values()]
  const count = chosen.length
  if (count === 0 && !change.data) return null
  return (
    <section className={`card stack ${styles.bulk}`} aria-label="What to do with the chosen tasks">
      {count > 0 && (
        <div className="row">
          <strong>{count.toLocaleString()} chosen</strong>
          {(Object.keys(verbs) as Verb[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={verb === one}
              disabled={!chosen.some(({ state }) => verbs[one].fits(state))}
              onClick={() => {
                change.reset()
                setVerb(verb === one ? undefined : one)
              }}
            >
              {verbs[one].button}
            </button>
          ))}
          <button type="button" className="quiet" onClick={selection.clear}>
            Choose none
          </button>
        </div>
      )}
      {verb && count > 0 && (
        <Sure
          key={verb}
          verb={verb}
          fitting={chosen.filter(({ state }) => verbs[verb].fits(state)).map(({ id }) => id)}
          count={count}
          isBusy={change.isPending}
          onSure={(work, tasks) => change.mutate({ work, tasks })}
          onKeep={() => setVerb(undefined)}
        />
      )}
      {change.isError && <p role="alert">{messageOf(change.error)}</p>}
      {change.data && (
        <Told
          result={change.data}
          titleOf={(id) => {
            const task = selection.chosen.get(id)
            return task ? titleOf(task) : id
          }}
        />
      )}
    </section>
  )
}

function Sure({
  verb,
  fitting,
  count,
  isBusy,
  onSure,
  onKeep,
}: {
  verb: Verb
  fitting: string[]
  count: number
  isBusy: boolean
  onSure: (work: Work, tasks: string[]) => void
  onKeep: () => void
}) {
  const [priority, setPriority] = useState('0')
  const [added, setAdded] = useState('')
  const [removed, setRemoved] = useState('')
  const { sure, does } = verbs[verb]
  const rest = count - fitting.length
  const said = sure(fitting.length === 1 ? '1 task' : `${fitting.length.toLocaleString()} tasks`)
  const work: Work =
    verb === 'priority'
      ? { action: 'edit', priority: Number(priority) }
      : verb === 'tags'
        ? { action: 'edit', addTags: wordsOf(added), removeTags: wordsOf(removed) }
        : { action: verb }
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        onSure(work, fitting)
      }}
    >
      <span>
        {said}
        {rest > 0 && <span className="faint"> The other {rest.toLocaleString()} are left as they are.</span>}
      </span>
      {verb === 'priority' && (
        <label>
          <span>Priority, -100 to 100</span>
          <input
            type="number"
            min={-100}
            max={100}
            required
            value={priority}
            onChange={(event) => setPriority(event.target.value)}
          />
        </label>
      )}
      {verb === 'tags' && (
        <>
          <label>
            <span>Add, separated by spaces</span>
            <input value={added} onChange={(event) => setAdded(event.target.value)} />
          </label>
          <label>
            <span>Take away</span>
            <input value={removed} onChange={(event) => setRemoved(event.target.value)} />
          </label>
        </>
      )}
      <button type="submit" className={verb === 'delete' || verb === 'cancel' ? 'danger' : 'primary'} disabled={isBusy}>
        {isBusy ? 'Working…' : does}
      </button>
      <button type="button" onClick={onKeep}>
        Leave them
      </button>
    </form>
  )
}

const mostTold = 20

function Told({ result: { done, refused }, titleOf }: { result: BulkResult; titleOf: (id: string) => string }) {
  return (
    <div role="status" className="stack">
      <span>
        {done.length.toLocaleString()} done{refused.length > 0 && `, ${refused.length.toLocaleString()} refused:`}
      </span>
      {refused.length > 0 && (
        <ul className={styles.refused}>
          {refused.slice(0, mostTold).map(({ id, message }) => (
            <li key={id}>
              <strong>{titleOf(id)}</strong>: {message}
            </li>
          ))}
          {refused.length > mostTold && <li>and {(refused.length - mostTold).toLocaleString()} more</li>}
        </ul>
      )}
    </div>
  )
}

const wordsOf = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '')
