import { notFound } from '../domain/error.ts'
import type { Runtime } from '../engine/runtime.ts'
import { findTask } from './find-task.ts'

/**
 * The id of the run that a person named: its whole id or the end of it if it was recorded, or that of its task, of which the last run is meant. `last` is the last that was
 * recorded: a replay is a task too, and newer than what it repeats.
 */
export async function findRun(
  runtime: Pick<Runtime, 'listTasks' | 'getTask' | 'listRecordings'>,
  named: string,
): Promise<string> {
  if (/^r_[0-9a-z]{18}$/.test(named)) return named
  const recorded = named.startsWith('t_') ? [] : await runtime.listRecordings()
  if (named === 'last' && recorded[0]) return recorded[0].run
  const ending = named.length < 4 ? [] : recorded.filter(({ run }) => run.endsWith(named))
  if (ending.length === 1) return ending[0]!.run
  const task = await runtime.getTask(await findTask(runtime, named))
  const run = task.runs.at(-1)
  if (!run) throw notFound(`Task ${task.id} has not run yet.`)
  return run.id
}

export const runArgument =
  'its id, or that of its task (the last run of it), the end of either, or "last": the last that was recorded'
