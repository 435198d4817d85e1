import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Accept the work of a task that is in review; it is completed then.')
    .argument('<task>', 'its id, the end or beginning of it, or "last"')
    .addHelpText('after', '\nExamples\n  pawl ls --state review\n  pawl task accept last')
    .action((named: string) => accept(cli, named))
}

async function accept(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const id = await findTask(runtime, named)
    const task = await runtime.acceptTask(id, { by: 'cli' })
    if (cli.globals.json) return cli.json(task)
    cli.say(`Task ${id} is completed.`)
  })
}
