import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatBytes } from '../text/format.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List the backups in the folder for them, newest first. Those elsewhere are not known here.')
    .addHelpText('after', '\nExample\n  pawl backup ls --json')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const found = await runtime.listBackups()
    if (cli.globals.json) return cli.json(found)
    if (found.length === 0) return cli.say('No backup yet; take one with: pawl backup')
    const rows = found.map(({ name, takenAt, bytes, rows, withKeys }) => [
      name,
      takenAt.slice(0, 19).replace('T', ' '),
      formatBytes(bytes),
      `${rows} rows`,
      withKeys ? 'with keys' : '',
    ])
    cli.out(table(['NAME', 'TAKEN', 'SIZE', 'HOLDS', ''], rows, process.stdout.columns))
  })
}
