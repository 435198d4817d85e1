import type { TaskView } from '../domain/view/view.ts'

const lookEveryMs = 500

/** A task that waits for its subtasks goes on by itself, unless all that are open wait for somebody else. */
export const waitsForSubtasks = ({ state, reason }: Pick<TaskView, 'state' | 'reason'>) =>
  state === 'blocked' && reason?.kind === 'subtasks'

/**
 * Looks on while a task waits for its subtasks. True when it goes on; false if nobody works on it any more: what is open below it is blocked or parked itself. Undefined if the signal came first.
 */
export async function waitForSubtasks(
  runtime: { getTask(id: string): Promise<TaskView> },
  id: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  while (!signal.aborted) {
    const task = await runtime.getTask(id)
    if (!waitsForSubtasks(task)) return true
    const isWorkedOn = task.subtasks.some(({ state }) => state === 'queued' || state === 'running')
    // The last one may have ended between the look at the task and the look at what is below it.
    if (!isWorkedOn && waitsForSubtasks(await runtime.getTask(id))) return false
    await new Promise<void>((again) => setTimeout(again, lookEveryMs))
  }
  return undefined
}
