import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import { sayQueued } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { resumeWatching } from '../watching/resume-watching.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Let a parked task go on now. If its account is at a limit, it shows whether that is over.')
    .argument('<task>', 'its id, the end or beginning of it, or "last"')
    .option('--wait', 'stay and show how it goes; without a daemon it is run here')
    .addHelpText('after', '\nExample\n  pawl task resume last --wait')
    .action((named: string, options: { wait?: boolean }) => resume(cli, named, options))
}

async function resume(cli: Cli, named: string, options: { wait?: boolean }): Promise<void> {
  await withConnection(cli, { work: options.wait ? 'own' : 'none' }, async (connection) => {
    const id = await findTask(connection.runtime, named)
    const task = await connection.runtime.resumeTask(id, { by: 'cli' })
    if (options.wait) {
      cli.exitCode = await resumeWatching(cli, connection, id)
      return
    }
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection)
  })
}
