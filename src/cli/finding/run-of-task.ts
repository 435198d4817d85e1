import { invalid, notFound } from '../../domain/error.ts'
import type { TaskView } from '../../domain/view/view.ts'

/** The run of a task that a person named: by its number, 1 for the first, by its id, or the end of it. */
export function runOfTask(task: Pick<TaskView, 'id' | 'runs'>, named: string): string {
  const count = task.runs.length
  if (count === 0) throw notFound(`Task ${task.id} has not run yet.`)
  if (/^\d{1,3}$/.test(named)) {
    const run = task.runs[Number(named) - 1]
    if (run) return run.id
    throw notFound(`Task ${task.id} has ${count === 1 ? '1 run' : `${count} runs`}; --run takes a number from 1 to ${count}.`)
  }
  const meant = named.length < 4 ? [] : task.runs.filter(({ id }) => id === named || id.endsWith(named))
  if (meant.length === 1) return meant[0]!.id
  if (meant.length > 1) throw invalid(`More than one run of task ${task.id} ends with "${named}"; write more of its id.`)
  throw notFound(`Task ${task.id} has no run "${named}"; --run takes a number from 1 to ${count}, or the id of a run.`)
}
