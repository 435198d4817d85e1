import type { Command } from 'commander'
import { invalid, PawlError } from '../../domain/error.ts'
import { isAtRest } from '../../domain/task/task.ts'
import type { NewTask } from '../../domain/view/view.ts'
import { withConnection } from '../connecting/connect.ts'
import { workspaceOf } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'
import { watchTask } from '../watching/watch.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Have an agent make a task of your words, and print it as a task file. Nothing is queued. The agent stands under "elaborate" in the settings.',
    )
    .argument('[words...]', 'what you want; "-" or nothing reads stdin')
    .option('--workspace <folder>', 'the folder that it is about')
    .addHelpText('after', examples)
    .action((words: string[], options: { workspace?: string }) => elaborate(cli, words, options))
}

const examples = `
Examples
  pawl task elaborate "the login page is slow, make it fast" > task.yaml
  pawl task elaborate "bump the dependencies" | pawl task add -f -`

async function elaborate(cli: Cli, words: string[], options: { workspace?: string }): Promise<void> {
  const text = words.length === 0 || words.join(' ') === '-' ? await readStdin(100_000) : words.join(' ')
  if (text.trim() === '') throw invalid('There are no words to make a task of; say what is to be done.')
  const workspace = options.workspace === undefined ? undefined : await workspaceOf(cli.cwd, options.workspace)
  await withConnection(cli, { work: 'own' }, async ({ runtime }) => {
    const { id } = await runtime.elaborateTask({ text, workspace }, { by: 'cli' })
    const { signal } = new AbortController()
    const seen = await watchTask(runtime, {
      task: id,
      after: 0,
      show: () => undefined,
      isDone: (task) => isAtRest(task.state),
      signal,
    })
    if (seen && (seen.task.state === 'blocked' || seen.task.state === 'parked'))
      throw new PawlError('conflict', `Task ${id} is ${seen.task.state} before it has proposed anything; see: pawl show ${id}`)
    const proposed = { ...(await runtime.getProposal(id)), ...(workspace === undefined ? {} : { workspace }) }
    if (cli.globals.json) return cli.json(proposed)
    const { stringify } = await import('yaml')
    cli.out(stringify(writtenTask(proposed), { lineWidth: 0 }).trimEnd())
  })
}

/** As people write it in a file. */
function writtenTask({ checks, ...task }: NewTask): Record<string, unknown> {
  return { ...task, ...(checks ? { checks: checks.commands.map(({ run }) => run) } : {}) }
}
