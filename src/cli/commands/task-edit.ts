import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask } from '../finding/find-task.ts'
import { priorityOf } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'

interface EditOptions {
  name?: string
  priority?: string
  tag?: string[]
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Change how a task that waits is called, found and ranked.')
    .argument('<task>', 'its id, the end or beginning of it, or "last"')
    .option('--name <text>', 'what people call it; "" takes the name away')
    .option('--priority <level>', 'high, normal, low or a number')
    .option('--tag <name>', 'the labels it has from now on; may be repeated', (tag: string, before: string[] | undefined) => [
      ...(before ?? []),
      tag,
    ])
    .addHelpText('after', '\nExample\n  pawl task edit 4k2x --priority high')
    .action((named: string, options: EditOptions) => edit(cli, named, options))
}

async function edit(cli: Cli, named: string, { name, priority, tag }: EditOptions): Promise<void> {
  if (name === undefined && priority === undefined && tag === undefined)
    throw invalid('Say what to change: --name, --priority or --tag.')
  const change = {
    ...(name === undefined ? {} : { name: name === '' ? null : name }),
    ...(priority === undefined ? {} : { priority: priorityOf(priority) }),
    ...(tag === undefined ? {} : { tags: tag }),
  }
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const task = await runtime.editTask(await findTask(runtime, named), change, { by: 'cli' })
    if (cli.globals.json) return cli.json(task)
    cli.out(task.id)
  })
}
