import type { Command } from 'commander'
import { demand } from '../../domain/base/demand.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import { type ScheduleView, TaskTemplate } from '../../domain/schedule/schedule.ts'
import type { WrittenSchedule } from '../../task-file/schedule.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import { defineSchedule, policiesOf, type ScheduleOptions, whenOf, wholeSchedule } from '../requests/schedule-request.ts'
import { agentOf, defineTask, type TaskOptions, taskRequest } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayAdded } from './schedules-show.ts'

export function define(command: Command, cli: Cli): void {
  defineTask(defineSchedule(command.description('Make a schedule, that is a task that comes again, and print its id.')))
    .addHelpText('after', examples)
    .action((words: string[], options: ScheduleOptions & TaskOptions) => {
      const when = whenOf(options)
      if (!when) throw invalid('Say when: --cron "0 7 * * 1-5", --every 2h, --at "2026-05-01 09:00", --idle 30m or --initial.')
      return addSchedule(cli, words, options, { when, policies: policiesOf(options) })
    })
}

const examples = `
Examples
  pawl schedules add --as morning --cron "0 7 * * 1-5" --tz Europe/Berlin "look at the new issues"
  pawl schedules add --every 2h --keep-session --overlap queue "go on with the migration"
  pawl schedules add --idle 30m --agent demo "find something to tidy up"`

/** The task as it is asked for, to come again. */
export async function addSchedule(cli: Cli, words: string[], options: TaskOptions, schedule: WrittenSchedule): Promise<void> {
  if (options.dependsOn !== undefined || options.acceptPartial || options.parent !== undefined || options.resetSession)
    throw invalid('--depends-on, --accept-partial, --parent and --reset-session are for a task that comes once; leave them out.')
  if (options.attach) throw invalid('A schedule has no files: what is attached goes with one task. Put them into the workspace.')
  const request = await taskRequest(cli, words, options)
  await withConnection(cli, { work: 'none', isForNewTask: true }, async (connection) => {
    const task = { ...request, ...(await agentOf(connection, options)) }
    sayAdded(cli, connection, await makeSchedule(connection, task, schedule))
  })
}

/** Makes it; or, if it may be there already, answers the one that has its name. */
export async function makeSchedule(
  { runtime }: Connection,
  task: object,
  { when, policies }: WrittenSchedule,
  isAgain = false,
): Promise<ScheduleView> {
  try {
    return await runtime.createSchedule(wholeSchedule({ when, task: templateOf(task), ...policies }), { by: 'cli' })
  } catch (error) {
    if (isAgain && policies.name !== undefined && error instanceof PawlError && error.code === 'conflict')
      return runtime.getSchedule(policies.name)
    throw error
  }
}

const onceOnly: ReadonlySet<string> = new Set(['dependsOn', 'acceptPartial', 'parent', 'resetSession'])

/** Without what is not said; refuses what a task that comes again cannot have. */
export function templateOf(request: object): TaskTemplate {
  const isSaid = ([key, value]: [string, unknown]) =>
    value !== undefined && !(value === false && (key === 'attended' || key === 'resetSession'))
  const given = Object.fromEntries(Object.entries(request).filter(isSaid))
  const once = Object.keys(given).find((key) => onceOnly.has(key))
  if (once !== undefined) throw invalid(`"${once}" is for a task that comes once, not for a schedule; leave it out.`)
  const read = TaskTemplate.safeParse(given)
  if (read.success) return read.data
  const faults = read.error.issues.map((issue) => `${issue.path.join('.') || 'it'} ${demand(issue)}`)
  throw invalid(`A task that comes again cannot be so: ${faults.join('; ')}.`)
}
