import type { Command } from 'commander'
import { PawlError } from '../../domain/error.ts'
import { findRun, runArgument } from '../finding/find-run.ts'
import { count } from '../requests/task-caps.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatMoney } from '../text/format.ts'
import { plain } from '../text/plain.ts'
import { runAgain } from '../watching/replay-screen.ts'

interface Options {
  until?: string
  prompt?: string
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Run the agent of a recorded run again, in a copy of the workspace as it was, answered from the recording: no provider is asked and nothing is paid. Says where it first asks for something else.',
    )
    .argument('<run>', runArgument)
    .option('--until <call>', 'answer up to this call from the recording, and ask the provider from then on, which costs')
    .option('--prompt <text>', 'tell the agent this instead of what it was told')
    .addHelpText(
      'after',
      '\nExamples\n  pawl replay last\n  pawl replay r_0123456789abcdefgh --until 3\n\nExit codes: 0 the same, 1 it went another way, or was not replayed at all.',
    )
    .action(async (named: string, options: Options) => {
      cli.exitCode = await replay(cli, named, options)
    })
}

async function replay(cli: Cli, named: string, { until, prompt }: Options): Promise<number> {
  const how = { until: count('--until', until, 0), prompt, attended: process.stderr.isTTY === true }
  return runAgain(
    cli,
    async ({ runtime }) => runtime.replayRun(await findRun(runtime, named), how, { by: 'cli' }),
    async ({ runtime }, task) => {
      const report = await runtime.getReplay(task.id).catch((error: unknown) => {
        if (!(error instanceof PawlError) || error.code !== 'conflict') throw error
        cli.say(error.message)
      })
      if (!report) return 1
      if (cli.globals.json) cli.json(report)
      else {
        cli.out(plain(report.says))
        cli.say(`• ${report.costUsd === null ? 'cost unknown' : formatMoney(report.costUsd)} · pawl logs ${task.id}`)
      }
      return report.identical ? 0 : 1
    },
  )
}
