import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { ended, isEnded } from '../../domain/task/task.ts'
import { withConnection } from '../connecting/connect.ts'
import { changeMany, isOne, type ManyOptions, takesMany, tasksMeant } from '../requests/many-tasks.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Delete a task that has ended, for good: with its subtasks, runs, events, questions and logs. Its session and its workspace stay.',
    )
    .argument('[task...]', 'its id, the end or beginning of it, or "last"; several may be named')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExamples\n  pawl task rm 4k2x --yes\n  pawl task rm --all --state cancelled --yes')
  takesMany(command).action((named: string[], options: ManyOptions & { yes?: boolean }) => remove(cli, named, options))
}

async function remove(cli: Cli, named: string[], options: ManyOptions & { yes?: boolean }): Promise<void> {
  const { yes } = options
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const ids = await tasksMeant(runtime, named, options, ended)
    if (!isOne(named, options)) {
      if (ids.length > 0 && !yes && !(await isMeant(cli, `${ids.length} tasks`))) return
      return changeMany(cli, runtime, ids, { action: 'delete' }, 'are deleted')
    }
    const id = ids[0]!
    const task = await runtime.getTask(id)
    // What is refused anyway need not be asked about.
    const what = `${id} (${oneLine(task.name ?? task.prompt, 60)})`
    if (!yes && isEnded(task.state) && !(await isMeant(cli, what))) return
    const { removed } = await runtime.removeTask(id, { by: 'cli' })
    if (cli.globals.json) return cli.json({ removed })
    cli.say(removed.length === 1 ? `Deleted ${id}.` : `Deleted ${id} and ${removed.length - 1} subtasks.`)
  })
}

async function isMeant(cli: Cli, what: string): Promise<boolean> {
  if (!cli.isInteractive) throw invalid(`This deletes ${what} for good; say --yes if that is meant.`)
  const { confirm } = await import('../terminal/confirm.ts')
  if (await confirm(`Delete ${what} for good?`)) return true
  cli.exitCode = 1
  cli.say('Nothing was deleted.')
  return false
}
