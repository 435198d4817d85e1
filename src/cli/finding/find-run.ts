import { notFound } from '../../domain/error.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { formatAge } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { ambiguous, fits, isPartOfId, isWholeId } from './find.ts'
import { findTask } from './find-task.ts'

/**
 * The id of the run that a person named: its whole id or a part of it if it was recorded, or that of its task, of which the last run is meant. `last` is the last that was
 * recorded: a replay is a task too, and newer than what it repeats.
 */
export async function findRun(
  runtime: Pick<Runtime, 'listTasks' | 'getTask' | 'listRecordings'>,
  named: string,
): Promise<string> {
  if (isWholeId('r', named)) return named
  const recorded = named.startsWith('t_') ? [] : await runtime.listRecordings()
  if (named === 'last' && recorded[0]) return recorded[0].run
  const found = isPartOfId(named) ? recorded.filter(({ run }) => fits(named, run)) : []
  if (found.length === 1) return found[0]!.run
  if (found.length > 1)
    throw ambiguous(
      named,
      { called: 'run', says: ({ agent, begunAt }) => `${oneLine(agent, 20)}  ${formatAge(Date.now() - Date.parse(begunAt))}` },
      found.map(({ run, ...rest }) => ({ id: run, ...rest })),
    )
  const task = await runtime.getTask(await findTask(runtime, named))
  const run = task.runs.at(-1)
  if (!run) throw notFound(`Task ${task.id} has not run yet.`)
  return run.id
}

export const runArgument =
  'its id, or that of its task (the last run of it), the end or beginning of either, or "last": the last that was recorded'
