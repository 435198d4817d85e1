import { type Command, Option } from 'commander'
import { auditActions } from '../../domain/auth/audit-actions.ts'
import { withConnection } from '../connecting/connect.ts'
import { parseCount, takePages } from '../finding/pages.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ListOptions {
  actor?: string
  action?: string
  limit: number
  all?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('List who did what, newest first.')
    .option('--actor <user>', 'only what this user did')
    .addOption(new Option('--action <name>', 'only this').choices(auditActions))
    .option('-n, --limit <count>', 'at most so many', parseCount, 20)
    .option('--all', 'every one, however many')
    .addHelpText('after', '\nExample\n  pawl audit ls -n 5')
    .action((options: ListOptions) => list(cli, options))
}

async function list(cli: Cli, { actor, action, limit, all }: ListOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const found = await takePages(all ? Number.POSITIVE_INFINITY : limit, (page) =>
      entrance.listAudit({ actor, action, ...page }),
    )
    if (cli.globals.json) return cli.json(found)
    if (found.items.length === 0) return cli.say('Nothing was done yet.')
    const rows = found.items.map((entry) => [
      String(entry.seq),
      entry.at.slice(0, 19).replace('T', ' '),
      oneLine(entry.actor, 20),
      entry.action,
      oneLine(entry.subject, 40),
      oneLine(JSON.stringify(entry.detail)),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['NO', 'AT (UTC)', 'WHO', 'DID', 'TO', 'DETAIL'], rows, width))
    if (found.next !== null) cli.say(`More: add -n ${limit * 5}, or --all.`)
  })
}
