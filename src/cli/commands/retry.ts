import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { resumeWatching } from '../resume-watching.ts'
import { sayQueued } from '../task-request.ts'

interface RetryOptions {
  fresh?: boolean
  wait?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Queue a task again that has come to rest; its conversation goes on.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('--fresh', 'with a new conversation')
    .option('--wait', 'stay and show how it goes; without a daemon it is run here')
    .action((named: string, options: RetryOptions) => retry(cli, named, options))
}

async function retry(cli: Cli, named: string, options: RetryOptions): Promise<void> {
  await withConnection(cli, { work: options.wait ? 'own' : 'none' }, async (connection) => {
    const id = await findTask(connection.runtime, named)
    const task = await connection.runtime.retryTask(id, { by: 'cli', fresh: options.fresh === true })
    if (options.wait) {
      cli.exitCode = await resumeWatching(cli, connection, id)
      return
    }
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection)
  })
}
