import { conflict } from '../../../domain/error.ts'
import { lockTree } from '../../../store/subtasks.ts'
import { requestCancel } from '../../../store/tasks.ts'
import { type Moving, move } from '../move.ts'

/** So often a tree may grow while it is being locked. */
const mostTries = 10

/** A subtask was made between our look and our locks: it would be locked in the wrong order. */
class TreeGrew extends Error {}

/** What a cancel has done: which tasks were running and are asked to stop. */
export interface Cancelled {
  readonly isChanged: boolean
  readonly asked: readonly string[]
}

/**
 * Cancels a task with everything below it, all or nothing: what waits ends at once, what runs is asked to stop. The topmost goes first, so that it does not go on with
 * what became of its subtasks. Belongs into `whileItGrows`.
 */
export async function cancelTree(moving: Moving, id: string, options: { now: boolean; by: string }): Promise<Cancelled> {
  const { tx, record, at } = moving
  const locked = await lockTree(tx, id)
  if (!locked) throw new TreeGrew()
  const asked: string[] = []
  let isChanged = false
  for (const task of locked.toReversed()) {
    const event = { type: 'task.cancelled', data: { by: options.by } } as const
    if (await move(moving, task.id, 'cancel_waiting', { reason: { kind: 'cancelled' }, event })) isChanged = true
    else if (await requestCancel(tx, task.id, { ...options, at })) {
      record({ task: task.id, event: { type: 'task.cancel_requested', data: options } })
      asked.push(task.id)
      isChanged = true
    }
  }
  return { isChanged, asked }
}

/** While a tree is locked nothing can be added to it, so it is locked whole after a few tries. */
export async function whileItGrows<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof TreeGrew)) throw error
      if (tries === mostTries) throw conflict('The task is making subtasks faster than they can be cancelled; try again.')
    }
  }
}
