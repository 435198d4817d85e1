import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List the secrets: their names and for whom they are, never their values.')
    .addHelpText('after', '\nExample\n  pawl secret ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ secrets }) => {
    const items = await secrets.listSecrets()
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('No secret is stored. Store one with: printf %s "$VALUE" | pawl secret set NAME')
    const rows = items.map(({ name, scope, updatedAt, updatedBy }) => [name, scope, updatedAt, oneLine(updatedBy)])
    cli.out(table(['NAME', 'SCOPE', 'UPDATED', 'BY'], rows, undefined))
  })
}
