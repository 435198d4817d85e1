import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { findRun, runArgument } from '../finding/find-run.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print a recording as a file of its own: all that models were asked and said, without the workspace.')
    .argument('<run>', runArgument)
    .addHelpText('after', '\nExample\n  pawl recording export last > fix.jsonl\n  pawl model-server --recording fix.jsonl')
    .action((named: string) => print(cli, named))
}

async function print(cli: Cli, named: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const text = await runtime.exportRecording(await findRun(runtime, named), { by: 'cli' })
    cli.out(text.trimEnd())
  })
}
