import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayChanged } from '../terminal/settings-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Take a server of tools out of config.yaml of Pawl\'s home. Its secrets stay: "pawl secret rm" removes them.')
    .argument('<name>', '"pawl mcp-servers ls" lists them')
    .addHelpText('after', '\nExample\n  pawl mcp-servers rm github')
    .action((name: string) =>
      withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) =>
        sayChanged(cli, await runtime.changeSettings({ unset: [`mcpServers.${name}`] }, { by: 'cli' }), isDaemon),
      ),
    )
}
