import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import { parseCount, takePages } from '../finding/pages.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatAge, formatBytes, formatTaskState } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ListOptions {
  agent?: string
  limit: number
  all?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('List sessions, newest first: the conversations with agents.')
    .option('--agent <name>', 'only sessions of this agent')
    .option('-n, --limit <count>', 'at most so many', parseCount, 20)
    .option('--all', 'every one, however many')
    .addHelpText('after', '\nExample\n  pawl sessions ls --agent demo')
    .action((options: ListOptions) => list(cli, options))
}

async function list(cli: Cli, { agent, limit, all }: ListOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const found = await takePages(all ? Number.POSITIVE_INFINITY : limit, (page) => runtime.listSessions({ agent, ...page }))
    if (cli.globals.json) return cli.json(found)
    if (found.items.length === 0) return cli.say('There are no sessions; every task has one, start one with: pawl run "…"')
    const rows = found.items.map((session) => [
      session.id,
      oneLine(session.agent, 20),
      String(session.taskCount),
      session.lastTask === null ? '-' : formatTaskState(session.lastTask),
      formatBytes(session.archivedBytes),
      formatAge(Date.now() - Date.parse(session.updatedAt)),
      oneLine(session.workspace),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    const head = ['SESSION', 'AGENT', 'TASKS', 'LAST', 'ARCHIVED', 'AGE', 'WORKSPACE']
    cli.out(table(head, rows, width, ['ARCHIVED', 'TASKS', 'AGE', 'LAST']))
    if (found.next !== null) cli.say(`More: add -n ${limit * 5}, or --all.`)
  })
}
