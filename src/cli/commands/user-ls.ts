import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List users with what they may do and how much.')
    .addHelpText('after', '\nExample\n  pawl user ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const users = await entrance.listUsers()
    if (cli.globals.json) return cli.json({ items: users })
    const rows = users.map((user) => [
      user.name,
      user.role,
      user.isDisabled ? 'disabled' : 'active',
      user.slots === null ? '-' : String(user.slots),
      user.dailyTasks === null ? '-' : `${user.tasksToday} of ${user.dailyTasks}`,
    ])
    cli.out(table(['USER', 'ROLE', 'STATE', 'SLOTS', 'TODAY'], rows, process.stdout.isTTY ? process.stdout.columns : undefined))
  })
}
