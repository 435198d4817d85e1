import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayChanged } from '../terminal/settings-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description("Take settings out of config.yaml of Pawl's home, so that their defaults count again.")
    .argument('<path...>', 'as "pawl config show" prints them')
    .addHelpText('after', '\nExample\n  pawl config unset limits.running')
    .action((unset: string[]) =>
      withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) =>
        sayChanged(cli, await runtime.changeSettings({ unset }, { by: 'cli' }), isDaemon),
      ),
    )
}
