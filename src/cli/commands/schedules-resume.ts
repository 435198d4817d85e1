import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findSchedule } from '../requests/schedule-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayAdded } from './schedules-show.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Let a paused schedule go on. Nothing of the pause is made up for.')
    .argument('<schedule>', 'its name, its id, or the end of that')
    .addHelpText('after', '\nExample\n  pawl schedules resume morning')
    .action((named: string) =>
      withConnection(cli, { work: 'none' }, async (connection) => {
        const { runtime } = connection
        sayAdded(cli, connection, await runtime.resumeSchedule(await findSchedule(runtime, named), { by: 'cli' }))
      }),
    )
}
