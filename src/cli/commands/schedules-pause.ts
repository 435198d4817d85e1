import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findSchedule } from '../requests/schedule-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayAdded } from './schedules-show.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Fire nothing until it is resumed; what runs goes on.')
    .argument('<schedule>', 'its name, its id, or the end of that')
    .addHelpText('after', '\nExample\n  pawl schedules pause morning')
    .action((named: string) =>
      withConnection(cli, { work: 'none' }, async (connection) => {
        const { runtime } = connection
        sayAdded(cli, connection, await runtime.pauseSchedule(await findSchedule(runtime, named), { by: 'cli' }))
      }),
    )
}
