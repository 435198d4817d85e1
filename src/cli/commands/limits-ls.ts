import type { Command } from 'commander'
import type { LimitView } from '../../domain/view/limit.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatState, formatTime, formatUntil } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List the accounts of model providers that are at a limit, until when, and how many tasks wait for them.')
    .addHelpText('after', '\nExamples\n  pawl limits ls\n  pawl limits ls --json')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listLimits()
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('No account is known to be at a limit.')
    const rows = items.map((limit) => [
      oneLine(limit.agents.join(', '), 40),
      formatState(limit.kind),
      untilOf(limit),
      String(limit.waiting),
      oneLine(limit.why, 120),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['AGENTS', 'LIMIT', 'UNTIL', 'WAITING', 'WHY'], rows, width))
  })
}

/** When it should have ended, one task tries first. */
function untilOf({ until, checking }: LimitView): string {
  if (checking) return 'being tried now'
  return Date.parse(until) <= Date.now() ? 'the next task tries' : `${formatTime(until)}, ${formatUntil(until)}`
}
