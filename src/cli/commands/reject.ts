import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { maxCommentChars } from '../../domain/task/review.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import { sayQueued } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'
import { resumeWatching } from '../watching/resume-watching.ts'

interface RejectOptions {
  comment: string
  wait?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Send the work of a task that is in review back, with what is to be changed; its conversation goes on.')
    .argument('<task>', 'its id, the end or beginning of it, or "last"')
    .requiredOption('--comment <text>', 'what is to be changed; "-" reads it from stdin')
    .option('--wait', 'stay and show how it goes on; without a daemon it is run here')
    .addHelpText('after', '\nExample\n  pawl task reject last --comment "keep the old name of the flag as an alias"')
    .action((named: string, options: RejectOptions) => reject(cli, named, options))
}

async function reject(cli: Cli, named: string, options: RejectOptions): Promise<void> {
  const comment = (options.comment === '-' ? await readStdin(4 * maxCommentChars) : options.comment).trim()
  if (comment === '') throw invalid('The comment is empty; say what is to be changed.')
  await withConnection(cli, { work: options.wait ? 'own' : 'none' }, async (connection) => {
    const id = await findTask(connection.runtime, named)
    const task = await connection.runtime.rejectTask(id, { by: 'cli', comment })
    if (options.wait) {
      cli.exitCode = await resumeWatching(cli, connection, id)
      return
    }
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection)
  })
}
