import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayChanged } from '../terminal/settings-screen.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      "Put config.yaml of Pawl's home back as it was before the last change made by Pawl; twice brings the change back.",
    )
    .addHelpText('after', '\nExample\n  pawl config undo')
    .action(() =>
      withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) =>
        sayChanged(cli, await runtime.undoSettings({ by: 'cli' }), isDaemon),
      ),
    )
}
