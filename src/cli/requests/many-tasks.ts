import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { TaskState } from '../../domain/task/task.ts'
import type { BulkWork } from '../../domain/view/bulk.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { findTask } from '../finding/find-task.ts'
import { takePages } from '../finding/pages.ts'
import type { Cli } from '../terminal/cli.ts'
import { shortId } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { parseStates } from './task-states.ts'

/** Which tasks are meant where a command takes several: those that are named, or with --all every one that fits. */
export interface ManyOptions {
  all?: boolean
  state?: TaskState[]
  agent?: string
  tag?: string
}

export const takesMany = (command: Command) =>
  command
    .optionsGroup('Many at once:')
    .option('--all', 'every task that fits the options below, instead of named ones')
    .option('--state <state>', 'with --all: only these, separated by commas', parseStates)
    .option('--agent <name>', 'with --all: only tasks of this agent')
    .option('--tag <name>', 'with --all: only tasks with this tag')

/** True if one single task is meant, by its name. */
export const isOne = (named: readonly string[], { all }: ManyOptions) => !all && named.length === 1

/** The ids that are meant; `fitting` are the states in which the command can do anything. */
export async function tasksMeant(
  runtime: Pick<Runtime, 'listTasks'>,
  named: readonly string[],
  options: ManyOptions,
  fitting: readonly TaskState[],
): Promise<string[]> {
  const { all, state: states, agent, tag } = options
  if (!all) {
    if (states ?? agent ?? tag)
      throw invalid('--state, --agent and --tag choose among all tasks; add --all, or name tasks instead.')
    if (named.length === 0) throw invalid('Name a task, or say --all with --state, --agent or --tag.')
    const ids: string[] = []
    for (const one of named) ids.push(await findTask(runtime, one))
    return ids
  }
  if (named.length > 0) throw invalid('Name tasks or say --all, not both.')
  const narrowed = { states: states ?? fitting, agent, tag }
  return (await takePages(Number.POSITIVE_INFINITY, (part) => runtime.listTasks({ ...narrowed, ...part }))).items.map(
    ({ id }) => id,
  )
}

/** Does it to each and says what came of it; ends with 1 if any was refused. */
export async function changeMany(
  cli: Cli,
  runtime: Pick<Runtime, 'changeTasks'>,
  ids: readonly string[],
  work: Omit<BulkWork, 'tasks'>,
  says: string,
): Promise<void> {
  const done: string[] = []
  const refused: { id: string; code: string; message: string }[] = []
  for (let n = 0; n < ids.length; n += 500) {
    const part = await runtime.changeTasks({ ...work, tasks: ids.slice(n, n + 500) }, { by: 'cli' })
    done.push(...part.done)
    refused.push(...part.refused)
  }
  if (refused.length > 0) cli.exitCode = 1
  if (cli.globals.json) return cli.json({ done, refused })
  cli.say(ids.length === 0 ? 'No task is like that.' : `${done.length} of ${ids.length} tasks ${says}.`)
  for (const { id, message } of refused) cli.say(`${shortId(id)}: ${oneLine(message, 300)}`)
}
