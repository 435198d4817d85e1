import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description("List the folders of Pawl's own in which tasks work or left something.")
    .addHelpText('after', '\nExample\n  pawl workspace ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listWorkspaces()
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('There are none: tasks work in the folders that they were given.')
    const rows = items.map(({ name, kind, bytes, removable, path }) => [
      name,
      kind,
      formatBytes(bytes),
      removable ? 'no' : 'yes',
      oneLine(path),
    ])
    cli.out(
      table(['WORKSPACE', 'KIND', 'SIZE', 'NEEDED', 'PATH'], rows, process.stdout.isTTY ? process.stdout.columns : undefined),
    )
    if (items.some(({ removable }) => removable)) cli.say('Remove what nobody needs: pawl workspace rm WORKSPACE')
  })
}
