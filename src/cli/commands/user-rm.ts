import type { Command } from 'commander'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Remove a user. Their tokens and signed-in browsers end at once, their tasks stay.')
    .argument('<name>', 'the user')
    .addHelpText('after', '\nExample\n  pawl user rm ada')
    .action((name: string) => remove(cli, name))
}

async function remove(cli: Cli, name: string): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    await entrance.removeUser(name, { by: 'cli' })
    if (cli.globals.json) return cli.json({ removed: name })
    cli.say(`${name} is removed.`)
  })
}
