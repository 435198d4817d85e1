import { resolve } from 'node:path'
import type { Command } from 'commander'
import { verifyBackup } from '../../daemon/restore-home.ts'
import type { Cli } from '../terminal/cli.ts'
import { sayBackup } from './backup.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'Read a backup from its first byte to its last and compare every hash in it. Ends with 0 only if it can be restored by this Pawl.',
    )
    .argument('<file>', 'the backup')
    .addHelpText('after', '\nExample\n  pawl backup verify monday.pawl')
    .action((file: string) => verify(cli, resolve(cli.cwd, file)))
}

async function verify(cli: Cli, file: string): Promise<void> {
  const found = await verifyBackup(file)
  if (cli.globals.json) return cli.json({ ...found, file, isWhole: true })
  cli.out(`whole, taken ${found.takenAt} by Pawl ${found.pawl}`)
  sayBackup(cli, found)
}
