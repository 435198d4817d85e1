import { notFound } from '../../domain/error.ts'
import type { TaskSummary } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { formatAge, formatTaskState } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { findNamed, type Noun } from './find.ts'

export const taskArgument = 'its id, the end or beginning of it, or "last"'

export const taskNoun: Noun<TaskSummary> = {
  called: 'task',
  letter: 't',
  listedBy: 'pawl ls',
  or: '"last"',
  says: (task) => `${formatTaskState(task)}  ${formatAge(Date.now() - Date.parse(task.createdAt))}  ${oneLine(task.prompt, 60)}`,
}

/** The id of the task that a person named. */
export async function findTask(runtime: Pick<Runtime, 'listTasks'>, named: string): Promise<string> {
  if (named !== 'last') return findNamed(named, taskNoun, (page) => runtime.listTasks(page))
  const newest = await newestAsked(runtime)
  if (!newest) throw notFound('There is no task yet; start one with: pawl run "…"')
  return newest.id
}

/** The newest that somebody asked for: what an agent made of it in the meantime is newer. */
async function newestAsked(runtime: Pick<Runtime, 'listTasks'>): Promise<TaskSummary | undefined> {
  for (let cursor: string | undefined, limit = 1; ; limit = 200) {
    const { items, next } = await runtime.listTasks({ limit, cursor })
    const found = items.find((task) => !task.parent)
    if (found || next === null) return found
    cursor = next
  }
}
