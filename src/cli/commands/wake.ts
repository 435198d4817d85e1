import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { resumeWatching } from '../resume-watching.ts'
import { sayQueued } from '../task-request.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Let a parked task go on now. If its account is at a limit, it shows whether that is over.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('--wait', 'stay and show how it goes; without a daemon it is run here')
    .addHelpText('after', '\nExample\n  pawl task wake last --wait')
    .action((named: string, options: { wait?: boolean }) => wake(cli, named, options))
}

async function wake(cli: Cli, named: string, options: { wait?: boolean }): Promise<void> {
  await withConnection(cli, { work: options.wait ? 'own' : 'none' }, async (connection) => {
    const id = await findTask(connection.runtime, named)
    const task = await connection.runtime.wakeTask(id, { by: 'cli' })
    if (options.wait) {
      cli.exitCode = await resumeWatching(cli, connection, id)
      return
    }
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection)
  })
}
