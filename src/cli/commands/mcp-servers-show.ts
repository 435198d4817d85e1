import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { showServer } from '../terminal/mcp-server-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show one of your servers of tools: where it is, who is offered it, what it offers, and what went wrong last.')
    .argument('<name>', '"pawl mcp-servers ls" lists them')
    .addHelpText('after', '\nExample\n  pawl mcp-servers show github')
    .action((name: string) =>
      withConnection(cli, { work: 'none' }, async ({ runtime }) => showServer(cli, await runtime.getMcpServer(name))),
    )
}
