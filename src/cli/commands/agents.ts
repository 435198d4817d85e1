import type { Command } from 'commander'
import type { AgentView } from '../../domain/view.ts'
import type { Cli } from '../cli.ts'
import { oneLine } from '../plain.ts'
import { table } from '../table.ts'

export function define(command: Command, cli: Cli): void {
  command.description('List the agents of this folder and whether they can work.').action(() => agents(cli))
}

async function agents(cli: Cli): Promise<void> {
  // As this folder's settings have them: what a task asked for here would use, daemon or not.
  const [{ describeAgents }, { readSettings }] = await Promise.all([import('../../describe.ts'), import('../settings.ts')])
  const views = await describeAgents(await readSettings(cli, { askTrust: true }))
  if (cli.globals.json) return cli.json({ items: views, next: null })
  const rows = views.map((agent) => [
    `${oneLine(agent.name)}${agent.isDefault ? ' *' : ''}`,
    oneLine(agent.adapter),
    oneLine(agent.model ?? '-'),
    oneLine(agent.profile),
    oneLine(agent.source),
    logins[String(agent.health.loggedIn) as keyof typeof logins],
    healthOf(agent),
  ])
  cli.out(
    table(
      ['AGENT', 'ADAPTER', 'MODEL', 'PROFILE', 'FROM', 'LOGIN', 'HEALTH'],
      rows,
      process.stdout.isTTY ? process.stdout.columns : undefined,
      ['FROM', 'MODEL', 'PROFILE', 'ADAPTER', 'LOGIN'],
    ),
  )
  for (const agent of views) if (agent.health.fix !== null) cli.say(`${oneLine(agent.name)}: ${oneLine(agent.health.fix)}`)
  cli.say('* is used when no agent is named.')
}

/** A program that needs no login, or cannot tell, has none to show. */
const logins = { true: 'yes', false: 'no', null: '-' }

const healthOf = ({ health }: AgentView) =>
  `${health.healthy ? 'ok' : health.installed ? 'not ready' : 'not installed'}${health.version === null ? '' : ` ${oneLine(health.version)}`}: ${oneLine(health.detail)}`
