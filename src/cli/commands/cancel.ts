import type { Command } from 'commander'
import { isEnded } from '../../domain/task/task.ts'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { formatState } from '../format.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Stop a task: a waiting one at once, a running one with grace.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('--now', 'without grace')
    .action((named: string, options: { now?: boolean }) => cancel(cli, named, options.now === true))
}

async function cancel(cli: Cli, named: string, now: boolean): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const id = await findTask(runtime, named)
    const before = await runtime.getTask(id)
    const task = await runtime.cancelTask(id, { by: 'cli', now })
    if (cli.globals.json) return cli.json(task)
    if (isEnded(before.state)) cli.say(`Task ${id} had ended already (${formatState(before.state)}).`)
    else
      cli.say(
        isEnded(task.state)
          ? `Task ${id} is ${formatState(task.state)}.`
          : `Task ${id} is being stopped; "pawl logs -f ${id}" shows how.`,
      )
  })
}
