import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findSchedule } from '../requests/schedule-request.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Remove a schedule with its history. Tasks that it made stay, and go on.')
    .argument('<schedule>', 'its name, its id, or the end of that')
    .addHelpText('after', '\nExample\n  pawl schedules rm morning')
    .action((named: string) =>
      withConnection(cli, { work: 'none' }, async ({ runtime }) => {
        const id = await findSchedule(runtime, named)
        const { source } = await runtime.getSchedule(id)
        await runtime.removeSchedule(id, { by: 'cli' })
        if (cli.globals.json) cli.json({ removed: id })
        else cli.say(`The schedule ${id} is gone.`)
        if (source !== null) cli.say(`It stands in ${source}: take it out there too, or the next daemon makes it again.`)
      }),
    )
}
