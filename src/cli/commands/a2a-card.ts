import type { Command } from 'commander'
import { clientSettings } from '../../config/config.ts'
import { findDaemon } from '../../daemon/machine/run-file.ts'
import { unavailable } from '../../domain/error.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine } from '../text/plain.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('Show how other agents reach one of yours by A2A, or the daemon itself: its card, and where to connect.')
    .argument('[agent]', '"pawl agents" lists them; left out, the daemon, which hands out work to all of them')
    .addHelpText('after', '\nExample\n  pawl a2a card demo')
    .action((agent: string | undefined) => show(cli, agent))
}

async function show(cli: Cli, agent: string | undefined): Promise<void> {
  const { home } = await clientSettings({ cwd: cli.cwd, ...cli.globals })
  const daemon = await findDaemon(home)
  if (!daemon) throw unavailable('No daemon runs here, so nobody can be reached; start one with "pawl serve".')
  const { createClient } = await import('../../client/index.ts')
  const client = createClient({ ...daemon, name: 'cli' })
  try {
    // One that is not there is refused in the words that all commands have for it.
    if (agent !== undefined) await client.getAgent(agent)
    const card = await client.getCard(agent)
    if (cli.globals.json) return cli.json(card)
    cli.out(oneLine(`${card.name}: ${card.description}`))
    for (const { url, protocolBinding, protocolVersion } of card.supportedInterfaces)
      cli.out(oneLine(`${protocolBinding} ${protocolVersion} ${url}`))
    for (const { id, description } of card.skills) cli.out(oneLine(`skill ${id}: ${cut(description)}`))
    cli.say('Clients need a token: "pawl token create" makes one, and "Authorization: Bearer <token>" shows it.')
  } finally {
    client.close()
  }
}

const cut = (text: string) => (text.length > 100 ? `${text.slice(0, 99)}…` : text)
