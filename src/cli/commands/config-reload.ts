import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayChanged } from '../terminal/settings-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Have the daemon take up what was written into its settings by hand, as far as that needs no restart.')
    .addHelpText('after', '\nExample\n  pawl config reload')
    .action(() =>
      withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
        if (!isDaemon) return cli.say('No daemon runs here; the next one reads the settings anew.')
        sayChanged(cli, await runtime.changeSettings({}, { by: 'cli' }), isDaemon)
      }),
    )
}
