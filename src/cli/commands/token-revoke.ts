import type { Command } from 'commander'
import { invalid, notFound } from '../../domain/error.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('End a token or a signed-in browser: at once in the daemon, within a second elsewhere.')
    .argument('<token>', 'its id, or the end of it; not the token itself')
    .addHelpText('after', '\nExample\n  pawl token revoke k_0123456789abcdefgh')
    .action((named: string) => revoke(cli, named))
}

async function revoke(cli: Cli, named: string): Promise<void> {
  if (named.startsWith('pawl_'))
    throw invalid('Name the token by its id ("pawl token ls"); the token itself does not belong on a command line.')
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const found = (await entrance.listTokens({ all: true })).filter(
      ({ id }) => id === named || (named.length >= 4 && id.endsWith(named)),
    )
    if (found.length !== 1)
      throw notFound(
        found.length === 0
          ? `There is no token "${named}"; "pawl token ls" lists those there are.`
          : `Several tokens end with "${named}"; use more of the id.`,
      )
    const token = await entrance.revokeToken(found[0]!.id, { by: 'cli' })
    if (cli.globals.json) return cli.json(token)
    cli.say(`${token.id} of ${token.user} opens nothing any more.`)
  })
}
