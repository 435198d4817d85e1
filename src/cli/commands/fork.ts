import type { Command } from 'commander'
import { exitCodeOf } from '../../domain/task/task.ts'
import { findRun, runArgument } from '../finding/find-run.ts'
import { budgetOf, count } from '../requests/task-caps.ts'
import type { Cli } from '../terminal/cli.ts'
import { runAgain } from '../watching/replay-screen.ts'

interface Options {
  at: string
  model: string
  budgetUsd?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Do the same as a recorded run up to a call, and let another model go on from there, in a copy of the workspace as it was. Calls before it are answered from the recording; the rest costs.',
    )
    .argument('<run>', runArgument)
    .requiredOption('--at <call>', 'the first call that the other model answers')
    .requiredOption('--model <model>', 'which model')
    .option('--budget-usd <usd>', 'what it may cost')
    .addHelpText('after', '\nExample\n  pawl fork last --at 3 --model another-model')
    .action(async (named: string, options: Options) => {
      cli.exitCode = await fork(cli, named, options)
    })
}

async function fork(cli: Cli, named: string, options: Options): Promise<number> {
  const how = {
    at: count('--at', options.at, 1)!,
    model: options.model,
    budget: await budgetOf(options),
    attended: process.stderr.isTTY === true,
  }
  return runAgain(
    cli,
    async ({ runtime }) => runtime.forkRun(await findRun(runtime, named), how, { by: 'cli' }),
    async (connection, task, screen) => {
      screen.end(task, connection)
      return exitCodeOf(task)
    },
  )
}
