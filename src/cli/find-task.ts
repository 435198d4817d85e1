import { invalid, notFound } from '../domain/error.ts'
import type { TaskSummary } from '../domain/view.ts'
import type { Runtime } from '../engine/runtime.ts'
import { formatAge, formatState } from './format.ts'
import { endingWith, searched } from './pages.ts'
import { oneLine } from './plain.ts'

/** The id of the task that a person named: a whole id, its last four or more characters, or `last`. */
export async function findTask(runtime: Pick<Runtime, 'listTasks'>, named: string): Promise<string> {
  if (/^t_[0-9a-z]{18}$/.test(named)) return named
  if (named === 'last') {
    const newest = await newestAsked(runtime)
    if (!newest) throw notFound('There is no task yet; start one with: pawl run "…"')
    return newest.id
  }
  if (!/^[0-9a-z_]{4,20}$/.test(named))
    throw invalid(`"${oneLine(named, 60)}" names no task; give its id, the last 4 or more characters of it, or "last".`)
  const found = await endingWith(named, (page) => runtime.listTasks(page))
  if (found.length > 1)
    throw invalid(`"${named}" is the end of ${found.length} ids; which one?\n${found.map(candidate).join('\n')}`)
  if (found.length === 0) throw notFound(`There is no task "${named}" among the newest ${searched}; "pawl ls" lists them.`)
  return found[0]!.id
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

const candidate = (task: TaskSummary) =>
  `  ${task.id}  ${formatState(task.state)}  ${formatAge(Date.now() - Date.parse(task.createdAt))}  ${oneLine(task.prompt, 60)}`
