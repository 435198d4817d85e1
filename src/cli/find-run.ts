import { notFound } from '../domain/error.ts'
import type { Runtime } from '../engine/runtime.ts'
import { findTask } from './find-task.ts'

/** The id of the run that a person named: its whole id, or that of its task, of which the last run is meant. */
export async function findRun(runtime: Pick<Runtime, 'listTasks' | 'getTask'>, named: string): Promise<string> {
  if (/^r_[0-9a-z]{18}$/.test(named)) return named
  const task = await runtime.getTask(await findTask(runtime, named))
  const run = task.runs.at(-1)
  if (!run) throw notFound(`Task ${task.id} has not run yet.`)
  return run.id
}

export const runArgument = 'its id, or that of its task (the last run of it), the end of that, or "last"'
