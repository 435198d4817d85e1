import type { Command } from 'commander'
import type { TokenView } from '../../domain/auth/token.ts'
import { withConnection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { formatAge } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

interface ListOptions {
  user?: string
  all?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description(
      'List what lets somebody in, newest first: tokens, and browsers that have signed in. Never the tokens themselves.',
    )
    .option('--user <name>', 'only those of this user')
    .option('--all', 'also those that open nothing any more')
    .addHelpText('after', '\nExample\n  pawl token ls')
    .action((options: ListOptions) => list(cli, options))
}

async function list(cli: Cli, options: ListOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async ({ entrance }) => {
    const tokens = await entrance.listTokens({ user: options.user, all: options.all })
    if (cli.globals.json) return cli.json({ items: tokens })
    if (tokens.length === 0)
      return cli.say('There are none; the file "token" in Pawl\'s home is the owner\'s, "pawl token create" makes others.')
    const rows = tokens.map((token) => [
      token.id,
      token.user,
      token.role === null ? token.kind : `${token.kind}, ${token.role}`,
      stateOf(token),
      token.lastUsedAt === null ? 'never' : formatAge(Date.now() - Date.parse(token.lastUsedAt)),
      oneLine(token.name ?? '-'),
    ])
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    cli.out(table(['TOKEN', 'USER', 'KIND', 'STATE', 'USED', 'FOR'], rows, width, ['USED']))
  })
}

function stateOf({ revokedAt, expiresAt }: TokenView): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'good'
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${expiresAt.slice(0, 10)}`
}
