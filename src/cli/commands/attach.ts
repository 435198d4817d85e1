import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findTask, taskArgument } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { attachTo } from '../watching/attach-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Show a task live, from what happened lately on, and answer its questions. q or Ctrl-D detaches and the task goes on; Ctrl-C says how to stop it. With --json one event per line.',
    )
    .argument('<task>', taskArgument)
    .addHelpText(
      'after',
      '\nExample\n  pawl attach last\n\nEnds with the exit code of the task once it has come to rest, as "pawl run" does, and with 0 if you detach before.',
    )
    .action(async (named: string) => {
      // Nothing is run here: whoever detaches must not take the task along.
      cli.exitCode = await withConnection(cli, { work: 'none' }, async (connection) =>
        attachTo(cli, connection, await findTask(connection.runtime, named)),
      )
    })
}
