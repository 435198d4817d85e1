import type { Command } from 'commander'
import { unavailable } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Print an address that signs one browser in: good once, within five minutes, for twelve hours.')
    .addHelpText('after', '\nExample\n  pawl sign-in')
    .action(() => signIn(cli))
}

async function signIn(cli: Cli): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance, url }) => {
    if (url === undefined) throw unavailable('There is no daemon to sign in to; start one with "pawl serve".')
    const { path, expiresAt } = await entrance.createSignInCode({ by: 'cli' })
    const address = new URL(path, url).href
    if (cli.globals.json) return cli.json({ url: address, expiresAt })
    cli.out(address)
    cli.say('Open it in a browser within five minutes; it works once.')
  })
}
