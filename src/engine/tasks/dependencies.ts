import { conflict } from '../../domain/error.ts'
import { rankOf } from '../../domain/task/task.ts'
import type { Tx } from '../../store/database.ts'
import { dependenciesOf, lockRelated, lockWaiting, openDependencies } from '../../store/task-relations.ts'
import { findTask, setReason } from '../../store/tasks.ts'
import type { Move, Moved, Moving } from './moving.ts'
import { nameOf } from './relate.ts'

/** A task has ended: those that waited for it are queued once they wait for nothing else, or fail with it, and with them those that wait for them. */
export async function releaseDependents(moving: Moving, ended: Moved, move: Move): Promise<void> {
  const { tx, at } = moving
  const waiting = await lockWaiting(tx, ended.id)
  if (waiting.length === 0) return
  if (ended.state !== 'completed') {
    const message = await whyNot(tx, ended)
    for (const { id } of waiting)
      await move(moving, id, 'fail_waiting', {
        reason: { kind: 'dependency_failed', detail: message },
        event: { type: 'task.failed', data: { category: 'dependency_failed', message } },
      })
    return
  }
  const open = await openDependencies(
    tx,
    waiting.map(({ id }) => id),
  )
  for (const { id, priority } of waiting) {
    const left = open.get(id)
    if (left) await setReason(tx, id, { kind: 'dependency', detail: left.join(', ') }, at)
    else
      await move(moving, id, 'enqueue', {
        reason: null,
        rank: rankOf(at.getTime(), priority),
        event: { type: 'task.requeued', data: { why: 'dependencies' } },
      })
  }
}

/** Who, how, and why: a chain of tasks says it of the first that failed. */
async function whyNot(tx: Tx, ended: Moved): Promise<string> {
  const task = await findTask(tx, ended.id)
  if (!task) return `Task ${ended.id}, which it depends on, ended as ${ended.state}.`
  const said = task.reason?.detail ?? task.reason?.kind
  const why = said === task.state ? undefined : said
  return `${nameOf(task)}, which it depends on, is ${task.state.replace('_', ' ')}${why === undefined ? '.' : `: ${why.slice(0, longest)}`}`
}

/** A reason is read in a list; the journal of the task that failed has the rest. */
const longest = 500

/** Refuses to queue a task again while something it depends on is not completed. Takes their locks, so it comes before the task's own. */
export async function assertDependenciesDone(tx: Tx, task: string): Promise<void> {
  const wanted = await dependenciesOf(tx, task)
  if (wanted.length === 0) return
  const now = await lockRelated(
    tx,
    wanted.map(({ id }) => id),
  )
  const open = now.filter(({ state }) => state !== 'completed')
  if (open.length === 0) return
  const list = open.map((one) => `${nameOf(one)} is ${one.state.replace('_', ' ')}`).join('; ')
  throw conflict(`Task ${task} depends on what is not completed: ${list}. Retry it once that is completed.`)
}
