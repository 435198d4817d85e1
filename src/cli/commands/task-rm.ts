import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { Cli } from '../cli.ts'
import { withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { oneLine } from '../plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Delete a task that has ended, for good: with its subtasks, runs, events, questions and logs. Its session and its workspace stay.',
    )
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample\n  pawl task rm 4k2x --yes')
    .action((named: string, options: { yes?: boolean }) => remove(cli, named, options))
}

async function remove(cli: Cli, named: string, { yes }: { yes?: boolean }): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const id = await findTask(runtime, named)
    const task = await runtime.getTask(id)
    // What is refused anyway need not be asked about.
    if (!yes && isEnded(task.state)) {
      if (!cli.isInteractive) throw invalid(`This deletes ${id} for good; say --yes if that is meant.`)
      const { confirm } = await import('../confirm.ts')
      if (!(await confirm(`Delete ${id} (${oneLine(task.name ?? task.prompt, 60)}) for good?`))) {
        cli.exitCode = 1
        return cli.say('Nothing was deleted.')
      }
    }
    const { removed } = await runtime.removeTask(id, { by: 'cli' })
    if (cli.globals.json) return cli.json({ removed })
    cli.say(removed.length === 1 ? `Deleted ${id}.` : `Deleted ${id} and ${removed.length - 1} subtasks.`)
  })
}
