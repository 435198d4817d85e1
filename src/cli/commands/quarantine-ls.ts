import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List what runs planted that other programs would execute, and that was moved out of their workspaces for that.')
    .addHelpText('after', '\nExample\n  pawl quarantine ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listQuarantine()
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('Nothing is in quarantine.')
    const rows = items.flatMap(({ run, workspace, items: paths }) =>
      paths.map(({ path, runs, instead }) => [run, oneLine(path), runs, instead, oneLine(workspace)]),
    )
    cli.out(
      table(['RUN', 'PATH', 'RUNS', 'THERE NOW', 'WORKSPACE'], rows, process.stdout.isTTY ? process.stdout.columns : undefined),
    )
    for (const { keptAt } of items) cli.say(`Look at it in ${oneLine(keptAt)}`)
  })
}
