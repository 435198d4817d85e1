import type { Command } from 'commander'
import { parseDuration } from '../../config/duration.ts'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { findTask, taskArgument } from '../finding/find-task.ts'
import type { Cli } from '../terminal/cli.ts'
import { resumeWatching } from '../watching/resume-watching.ts'
import { waitForTasks } from '../watching/wait-for-tasks.ts'

interface WaitOptions {
  timeout?: number
  any?: boolean
  all?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Wait until tasks end or ask something, and end with their exit code. Without a daemon they are run here.')
    .argument('<task...>', taskArgument)
    .option('--timeout <duration>', 'no longer than this: 30s, 10m, 2h', parseTimeout)
    .option('--all', 'until all of them are done (as if left out)')
    .option('--any', 'until the first of them is done')
    .addHelpText(
      'after',
      `
Examples
  pawl wait last --timeout 10m
  pawl wait last --any --json

Exit codes are those of "pawl run": with --any that of the first to come to rest, else that of the first named that did
not end well. When the time is up: 75 if all that is waited for is parked, else 124. Ctrl-C leaves with 130 and cancels nothing.`,
    )
    .action(async (named: string[], options: WaitOptions) => {
      if (options.any && options.all) throw invalid('Either --any or --all.')
      cli.exitCode = await withConnection(cli, { work: 'own' }, async (connection) => {
        const ids = [...new Set(await Promise.all(named.map((each) => findTask(connection.runtime, each))))]
        if (ids.length === 1) return resumeWatching(cli, connection, ids[0]!, { timeoutMs: options.timeout })
        return waitForTasks(cli, connection, ids, { timeoutMs: options.timeout, isAny: options.any === true })
      })
    })
}

function parseTimeout(written: string): number {
  const ms = parseDuration(written)
  if (ms === undefined || ms <= 0 || ms > 2_000_000_000)
    throw invalid('--timeout must be a duration such as 30s, 10m or 2h, of at most 23 days.')
  return ms
}
