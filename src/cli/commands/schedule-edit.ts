import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { defineSchedule, findSchedule, policiesOf, type ScheduleOptions, whenOf } from '../schedule-request.ts'
import { type TaskOptions, workspaceOf } from '../task-request.ts'
import { sayAdded } from './schedule-show.ts'

type EditOptions = ScheduleOptions &
  Pick<TaskOptions, 'agent' | 'model' | 'workspace' | 'profile'> & { prompt?: string; newSession?: boolean }

export function define(command: Command, cli: Cli): void {
  command
    .description('Change a schedule: when it is due, how it goes about it, or what is to be done. What is not named stays.')
    .argument('<schedule>', 'its name, its id, or the end of that')
  defineSchedule(command)
    .option('--prompt <text>', 'what the agent should do')
    .option('--agent <name>', 'which agent; also takes over what changed in its settings')
    .option('--model <name>', 'which model the agent uses')
    .option('--workspace <dir>', 'where it works')
    .option('--profile <name>', 'what it may see and do')
    .option('--new-session', 'begin a new conversation each time again')
    .action((named: string, options: EditOptions) => edit(cli, named, options))
}

async function edit(cli: Cli, named: string, options: EditOptions): Promise<void> {
  if (options.keepSession && options.newSession) throw invalid('Either --keep-session or --new-session.')
  const when = whenOf(options)
  const { agent, profile, model, prompt } = options
  const workspace = options.workspace === undefined ? undefined : await workspaceOf(cli.cwd, options.workspace)
  await withConnection(cli, { work: 'none', isForNewTask: agent !== undefined }, async (connection) => {
    const chosen =
      agent === undefined && profile === undefined
        ? {}
        : agent === undefined
          ? { profile }
          : await connection.chooseAgent(agent, profile)
    const task = Object.fromEntries(
      Object.entries({ prompt, model, workspace, ...chosen }).filter(([, value]) => value !== undefined),
    )
    const changes = {
      ...policiesOf(options),
      ...(options.newSession ? { session: 'new' as const } : {}),
      ...(when ? { when } : {}),
      ...(Object.keys(task).length > 0 ? { task } : {}),
    }
    if (Object.keys(changes).length === 0) throw invalid('Say what is to change; see "pawl schedule edit --help".')
    const { runtime } = connection
    sayAdded(cli, connection, await runtime.changeSchedule(await findSchedule(runtime, named), changes, { by: 'cli' }))
  })
}
