import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Remove a folder in which a task worked or left something, for good. Refused while its task may go on.')
    .argument('<workspace>', 'its name, as "pawl workspace ls" shows it')
    .addHelpText('after', '\nExample\n  pawl workspace rm shop')
    .action((name: string) => remove(cli, name))
}

async function remove(cli: Cli, name: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const removed = await runtime.removeWorkspace(name, { by: 'cli' })
    if (cli.globals.json) return cli.json(removed)
    cli.say(`Removed ${oneLine(removed.path)} (${formatBytes(removed.bytes)}).`)
  })
}
