import { conflict } from '../../domain/error.ts'
import type { Shortfall } from '../../domain/run/outcome.ts'
import { heldBackBy, type Reason, rankOf, shortfallOf } from '../../domain/task/task.ts'
import type { Tx } from '../../store/database.ts'
import { dependenciesOf, lockRelated, lockWaiting, type Related, unmetDependencies } from '../../store/task-relations.ts'
import { findTask, setReason } from '../../store/tasks.ts'
import type { Move, Moved, Moving } from './moving.ts'

/**
 * A task has ended: those that waited for it are queued once they wait for nothing else, are held back for a person if it did only a part of its work, or fail with it, and
 * with them those that wait for them.
 */
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
  const unmet = await unmetDependencies(
    tx,
    waiting.map(({ id }) => id),
  )
  for (const { id, state, reason, priority, parent_id, spec } of waiting) {
    const left = unmet.get(id) ?? []
    const open = left.filter((one) => one.state !== 'completed')
    const held = takesPartial({ parent: parent_id, acceptPartial: spec.acceptPartial }) ? undefined : heldBack(left)
    if (open.length > 0) {
      // One that is held back stays so: another of its dependencies is being tried again.
      if (state === 'created') await setReason(tx, id, { kind: 'dependency', detail: open.map((one) => one.id).join(', ') }, at)
    } else if (held === undefined)
      await move(moving, id, state === 'created' ? 'enqueue' : 'let_go', {
        reason: null,
        rank: rankOf(at.getTime(), priority),
        event: { type: 'task.requeued', data: { why: 'dependencies' } },
      })
    else if (state === 'created')
      await move(moving, id, 'hold_back', { reason: held, event: { type: 'task.blocked', data: held } })
    else if (held.kind !== reason?.kind || held.detail !== reason.detail) await setReason(tx, id, held, at)
  }
}

/** A subtask starts anyway: the agent above it is told how each of them ended, and judges that itself. */
export const takesPartial = ({
  parent,
  acceptPartial,
}: {
  parent?: string | null | undefined
  acceptPartial?: boolean | undefined
}) => acceptPartial === true || typeof parent === 'string'

/** Why a task must not start by itself after these; undefined if each of them is done. */
export function heldBack(
  dependencies: readonly Pick<Related, 'id' | 'name' | 'state' | 'reason'>[],
): Required<Reason> | undefined {
  const short = dependencies.flatMap((one) => {
    const shortfall = shortfallOf(one)
    return shortfall === undefined || one.state !== 'completed' ? [] : [{ one, shortfall }]
  })
  const [first] = short
  if (!first) return undefined
  const says = short.map(({ one, shortfall }) => {
    const why = one.reason?.detail
    return `${nameOf(one)}, which it depends on, ${ended[shortfall]}${why ? `: ${why.slice(0, longest)}` : '.'}`
  })
  return { kind: heldBackBy[first.shortfall], detail: says.slice(0, mostNamed).join(' ') }
}

const ended: Record<Shortfall, string> = { partial: 'did only a part of its work', empty: 'ended without an answer' }
const mostNamed = 3

export const nameOf = ({ id, name }: Pick<Related, 'id' | 'name'>) => (name === null ? `Task ${id}` : `Task ${id} ("${name}")`)

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
