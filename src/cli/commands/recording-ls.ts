import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatAge, formatBytes } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List recorded runs, newest first.')
    .addHelpText('after', '\nExample\n  pawl run --record "fix the failing test"\n  pawl recording ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listRecordings()
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('There are none; "pawl run --record" makes one.')
    const rows = items.map(({ run, task, agent, state, calls, bytes, canReplay, begunAt }) => [
      run,
      task,
      oneLine(agent),
      state,
      String(calls),
      formatBytes(bytes),
      canReplay ? 'yes' : 'no',
      formatAge(Date.now() - Date.parse(begunAt)),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['RUN', 'TASK', 'AGENT', 'STATE', 'CALLS', 'SIZE', 'REPLAY', 'AGE'], rows, width))
  })
}
