import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { stateOf } from '../terminal/mcp-server-screen.ts'
import { formatTime } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'List your servers of tools (MCP), and how they were when somebody looked last: a test, a start of the daemon, or a run.',
    )
    .addHelpText('after', '\nExamples\n  pawl mcp-servers ls\n  pawl mcp-servers ls --json')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ runtime }) => {
    const items = await runtime.listMcpServers()
    if (cli.globals.json) return cli.json({ items, next: null })
    if (items.length === 0) return cli.say('No server of tools is set. Add one: pawl mcp-servers add --help')
    const rows = items.map(({ name, target, health, agents }) => [
      name,
      oneLine(target, 60),
      stateOf(health),
      health.era === null ? '' : `${health.protocol}`,
      health.checkedAt === null ? '' : formatTime(health.checkedAt),
      agents.length === 0 ? 'none' : oneLine(agents.join(', '), 40),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['SERVER', 'TARGET', 'STATE', 'REVISION', 'LOOKED AT', 'AGENTS'], rows, width))
    for (const { name, health } of items) if (health.error !== null) cli.say(`${name}: ${oneLine(health.error, 500)}`)
  })
}
