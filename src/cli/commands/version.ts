import type { Command } from 'commander'
import { version } from '../../base/version.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print the version, as --version does.')
    .addHelpText('after', '\nExample\n  pawl version --json')
    .action(() => (cli.globals.json ? cli.json({ version }) : cli.out(version)))
}
