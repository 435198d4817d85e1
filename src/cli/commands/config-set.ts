import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayChanged } from '../terminal/settings-screen.ts'
import { oneLine } from '../text/plain.ts'

const examples = `
Examples
  pawl config set limits.running 8
  pawl config set agents.helper.budget '{ usd: 10 }'`

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Change a setting in config.yaml of Pawl\'s home: checked first, comments kept, and undone by "pawl config undo".',
    )
    .argument('<path>', 'as "pawl config show" prints it')
    .argument('<value>', 'as it would stand in the file')
    .addHelpText('after', examples)
    .action(async (path: string, written: string) => {
      const { parseValue } = await import('../../config/edit.ts')
      await withConnection(cli, { work: 'none' }, async ({ runtime, isDaemon }) => {
        const changed = await runtime.changeSettings({ set: { [oneLine(path, 500)]: parseValue(written) } }, { by: 'cli' })
        sayChanged(cli, changed, isDaemon)
      })
    })
}
