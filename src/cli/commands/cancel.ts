import type { Command } from 'commander'
import { isEnded, taskStates } from '../../domain/task/task.ts'
import { withConnection } from '../connecting/connect.ts'
import { changeMany, isOne, type ManyOptions, takesMany, tasksMeant } from '../requests/many-tasks.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatState } from '../text/format.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Stop tasks: a waiting one at once, a running one with grace.')
    .argument('[task...]', 'its id, the end or beginning of it, or "last"; several may be named')
    .option('--now', 'without grace')
    .addHelpText('after', '\nExamples\n  pawl cancel 4k2x\n  pawl cancel --all --state queued --tag nightly')
  takesMany(command).action((named: string[], options: ManyOptions & { now?: boolean }) => cancel(cli, named, options))
}

async function cancel(cli: Cli, named: string[], options: ManyOptions & { now?: boolean }): Promise<void> {
  const now = options.now === true
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const ids = await tasksMeant(runtime, named, options, open)
    if (!isOne(named, options)) return changeMany(cli, runtime, ids, { action: 'cancel', now }, 'are stopped or being stopped')
    const id = ids[0]!
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

const open = taskStates.filter((state) => !isEnded(state))
