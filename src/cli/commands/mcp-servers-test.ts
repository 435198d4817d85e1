import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { showServer } from '../terminal/mcp-server-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Start or reach a server now as a run would, a program inside the walls, and show what was seen; ends with 1 if it cannot be used.',
    )
    .argument('<name>', '"pawl mcp-servers ls" lists them')
    .option('--profile <name>', 'whose walls and network rules count; guarded if left out')
    .addHelpText('after', '\nExamples\n  pawl mcp-servers test github\n  pawl mcp-servers test files --profile strict')
    .action((name: string, { profile }: { profile?: string }) =>
      withConnection(cli, { work: 'none' }, async ({ runtime }) => {
        const server = await runtime.testMcpServer(name, { profile })
        if (server.health.state !== 'reachable') cli.exitCode = 1
        showServer(cli, server)
      }),
    )
}
