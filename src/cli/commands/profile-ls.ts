import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List the profiles of this folder: what runs may see and do.')
    .addHelpText('after', '\nExample\n  pawl profile ls')
    .action(() => list(cli))
}

async function list(cli: Cli): Promise<void> {
  const { profilesHere } = await import('../connecting/profiles.ts')
  const items = await (await profilesHere(cli)).list()
  if (cli.globals.json) return cli.json({ items, next: null })
  const rows = items.map((profile) => [
    oneLine(profile.name),
    profile.base,
    profile.source,
    profile.walls ? 'yes' : cli.style('bad', 'NONE', process.stdout),
    profile.digest.slice(7, 19),
  ])
  cli.out(table(['PROFILE', 'BASE', 'FROM', 'WALLS', 'DIGEST'], rows, undefined))
  cli.say('From the narrowest to the widest; guarded is used where none is named. More: pawl profile show NAME')
}
