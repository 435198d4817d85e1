import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findRun, runArgument } from '../finding/find-run.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Remove a recording for good; its run and its task stay. Deleting the task removes it as well.')
    .argument('<run>', runArgument)
    .addHelpText('after', '\nExample\n  pawl recording rm r_0123456789abcdefgh')
    .action((named: string) => remove(cli, named))
}

async function remove(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const run = await findRun(runtime, named)
    await runtime.removeRecording(run, { by: 'cli' })
    if (cli.globals.json) return cli.json({ removed: run })
    cli.say(`Removed the recording of run ${run}.`)
  })
}
