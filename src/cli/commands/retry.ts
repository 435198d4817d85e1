import type { Command } from 'commander'
import { invalid } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import { changeMany, isOne, type ManyOptions, takesMany, tasksMeant } from '../requests/many-tasks.ts'
import { budgetOf, duration } from '../requests/task-caps.ts'
import type { TaskOptions } from '../requests/task-options.ts'
import { sayQueued } from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { resumeWatching } from '../watching/resume-watching.ts'

interface RetryOptions
  extends ManyOptions,
    Pick<TaskOptions, 'budgetUsd' | 'budgetTokens' | 'budgetTurns' | 'budgetTime' | 'budgetRunUsd' | 'timeout'> {
  fresh?: boolean
  wait?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Queue a task again that has come to rest; its conversation goes on, held to all that it was held to.')
    .argument('[task...]', 'its id, the end or beginning of it, or "last"; several may be named')
    .option('--fresh', 'with a new conversation')
    .option('--wait', 'stay and show how it goes; without a daemon it is run here')
    .optionsGroup('Caps that replace its own:')
    .option('--budget-usd <dollars>', 'what the task may cost in all, what it has cost so far included')
    .option('--budget-tokens <count>', 'how many tokens it may use in all')
    .option('--budget-turns <count>', 'how many turns it may take in all')
    .option('--budget-time <duration>', 'how long all its runs may take together')
    .option('--budget-run-usd <dollars>', 'what one run may cost')
    .option('--timeout <duration>', 'the longest a run may take: 90s, 30m, 2h; 0 for no limit')
    .addHelpText('after', '\nExamples\n  pawl task retry 4k2x --budget-usd 5\n  pawl retry --all --state failed --agent demo')
  takesMany(command).action((named: string[], options: RetryOptions) => retry(cli, named, options))
}

async function retry(cli: Cli, named: string[], options: RetryOptions): Promise<void> {
  const caps = { budget: await budgetOf(options), timeoutMs: await duration('--timeout', options.timeout) }
  await withConnection(cli, { work: options.wait ? 'own' : 'none' }, async (connection) => {
    const ids = await tasksMeant(connection.runtime, named, options, ['failed', 'timed_out', 'over_budget'])
    if (!isOne(named, options)) {
      if (options.wait || caps.budget !== undefined || caps.timeoutMs !== undefined)
        throw invalid('--wait and caps are for one task; name just one, or leave them out.')
      return changeMany(cli, connection.runtime, ids, { action: 'retry', fresh: options.fresh === true }, 'are queued again')
    }
    const id = ids[0]!
    const task = await connection.runtime.retryTask(id, { by: 'cli', fresh: options.fresh === true, ...caps })
    if (options.wait) {
      cli.exitCode = await resumeWatching(cli, connection, id)
      return
    }
    if (cli.globals.json) cli.json(task)
    else cli.out(task.id)
    sayQueued(cli, connection)
  })
}
