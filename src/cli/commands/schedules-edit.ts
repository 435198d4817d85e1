import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { When } from '../../domain/schedule/schedule.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { withConnection } from '../connecting/connect.ts'
import { defineSchedule, findSchedule, policiesOf, type ScheduleOptions, whenOf } from '../requests/schedule-request.ts'
import { type TaskOptions, workspaceOf } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayAdded } from './schedules-show.ts'

type EditOptions = ScheduleOptions &
  Pick<TaskOptions, 'agent' | 'model' | 'workspace' | 'allowHome' | 'profile'> & { prompt?: string; newSession?: boolean }

export function define(command: Command, cli: Cli): void {
  command
    .description('Change a schedule: when it is due, how it goes about it, or what is to be done. What is not named stays.')
    .argument('<schedule>', 'its name, its id, or the end of that')
  defineSchedule(command)
    .option('--prompt <text>', 'what the agent should do')
    .option('--agent <name>', 'which agent; also takes over what changed in its settings')
    .option('--model <name>', 'which model the agent uses')
    .option('--workspace <dir>', 'where it works')
    .option('--allow-home', 'that may be a home folder or one above; keys and logins in it stay covered')
    .option('--profile <name>', 'what it may see and do')
    .option('--new-session', 'begin a new conversation each time again')
    .addHelpText(
      'after',
      '\nExample\n  pawl schedules edit morning --cron "0 8 * * 1-5" --prompt "look at the new issues and label them"',
    )
    .action((named: string, options: EditOptions) => edit(cli, named, options))
}

async function edit(cli: Cli, named: string, options: EditOptions): Promise<void> {
  if (options.keepSession && options.newSession) throw invalid('Either --keep-session or --new-session.')
  const isZoneOnly = isOnlyZone(options)
  const said = isZoneOnly ? undefined : whenOf(options)
  const { agent, profile, model, prompt, allowHome } = options
  const workspace = options.workspace === undefined ? undefined : await workspaceOf(cli.cwd, options.workspace)
  await withConnection(cli, { work: 'none', isForNewTask: agent !== undefined }, async (connection) => {
    const chosen =
      agent === undefined && profile === undefined
        ? {}
        : agent === undefined
          ? { profile }
          : await connection.chooseAgent(agent, profile)
    const task = Object.fromEntries(
      Object.entries({ prompt, model, workspace, allowHome, ...chosen }).filter(([, value]) => value !== undefined),
    )
    const { runtime } = connection
    const id = await findSchedule(runtime, named)
    const when = isZoneOnly || said ? await inItsZone(runtime, id, options) : undefined
    const changes = {
      ...policiesOf(options),
      ...(options.newSession ? { session: 'new' as const } : {}),
      ...(when ? { when } : {}),
      ...(Object.keys(task).length > 0 ? { task } : {}),
    }
    if (Object.keys(changes).length === 0) throw invalid('Say what is to change; see "pawl schedules edit --help".')
    sayAdded(cli, connection, await runtime.changeSchedule(id, changes, { by: 'cli' }))
  })
}

const isOnlyZone = ({ tz, cron, every, at, idle, initial }: EditOptions) =>
  tz !== undefined && [cron, every, at, idle, initial].every((other) => other === undefined)

/** What is not named stays: other times by the same clocks, or the same times by other clocks. */
async function inItsZone(runtime: Pick<Runtime, 'getSchedule'>, id: string, options: EditOptions): Promise<When | undefined> {
  if (options.tz !== undefined && !isOnlyZone(options)) return whenOf(options)
  const { when } = await runtime.getSchedule(id)
  if (when.kind !== 'cron') return whenOf(options)
  if (isOnlyZone(options)) return whenOf({ ...options, cron: when.expression })
  const goesByClocks = options.cron !== undefined || options.at !== undefined
  return whenOf(goesByClocks ? { ...options, tz: when.timeZone } : options)
}
