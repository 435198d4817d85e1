import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { resumeWatching } from '../resume-watching.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Wait until a task ends or asks something, and end with its exit code. Without a daemon it is run here.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .action(async (named: string) => {
      cli.exitCode = await withConnection(cli, { work: 'own' }, async (connection) =>
        resumeWatching(cli, connection, await findTask(connection.runtime, named)),
      )
    })
}
