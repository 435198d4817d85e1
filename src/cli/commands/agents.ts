import type { Command } from 'commander'
import type { Client } from '../../client/index.ts'
import type { AgentRecord } from '../../domain/run/health.ts'
import type { AgentView } from '../../domain/view/view.ts'
import type { Cli } from '../terminal/cli.ts'
import { agentPage } from '../text/agent-page.ts'
import { oneLine } from '../text/plain.ts'
import { table } from '../text/table.ts'

export function define(command: Command, cli: Cli): void {
  command
    .description('List the agents of this folder and whether they can work, or show one of them.')
    .argument('[name]', 'show this one: what it can do, how it is let in, what it obeys, where its files lie')
    .addHelpText('after', '\nExamples\n  pawl agents\n  pawl agents demo\n  pawl agents --json')
    .action((name: string | undefined) => (name === undefined ? list(cli) : show(cli, name)))
}

/** As this folder's settings have them: what a task asked for here would use, daemon or not. */
async function look<T>(
  cli: Cli,
  work: (parts: typeof import('../../daemon/machine/describe-agents.ts'), config: Settings) => Promise<T>,
): Promise<T> {
  const [parts, { readSettings }] = await Promise.all([
    import('../../daemon/machine/describe-agents.ts'),
    import('../connecting/settings.ts'),
  ])
  const config = await readSettings(cli, { askTrust: true })
  // Each program is started to ask for its version, and some are slow to start.
  const waiting = setTimeout(() => cli.say(`Asking the programs of ${config.agents.length} agents for their versions …`), 1_000)
  try {
    return await work(parts, config)
  } finally {
    clearTimeout(waiting)
  }
}
type Settings = Awaited<ReturnType<typeof import('../connecting/settings.ts')['readSettings']>>

async function show(cli: Cli, name: string): Promise<void> {
  const agent = await look(cli, ({ describeAgent }, config) => describeAgent(config, name))
  if (cli.globals.json) return cli.json(agent)
  for (const line of agentPage(agent, await addressOf(cli, name))) cli.out(line)
}

/** Where other agents reach it by A2A; undefined where no daemon runs, or it has no such agent or no A2A. */
const addressOf = (cli: Cli, name: string): Promise<string | undefined> =>
  askDaemon(cli, async (client) => (await client.getCard(name)).supportedInterfaces[0]?.url)

async function list(cli: Cli): Promise<void> {
  const agents = await look(cli, ({ describeAgents }, config) => describeAgents(config))
  if (cli.globals.json) return cli.json({ items: agents, next: null })
  const rows = agents.map((agent) => [
    `${oneLine(agent.name)}${agent.isDefault ? ' *' : ''}`,
    stateOf(agent),
    oneLine(agent.health.version ?? '-', 24),
    triedOf(agent),
    logins[String(agent.health.loggedIn) as keyof typeof logins],
    oneLine(agent.model ?? '-'),
    oneLine(agent.profile),
    oneLine(agent.adapter),
    oneLine(agent.source),
    agent.can.join(', '),
  ])
  const head = ['AGENT', 'STATE', 'VERSION', 'TRIED', 'LOGIN', 'MODEL', 'PROFILE', 'ADAPTER', 'FROM', 'CAN']
  const width = process.stdout.isTTY ? process.stdout.columns : undefined
  cli.out(table(head, rows, width, ['FROM', 'PROFILE', 'ADAPTER', 'MODEL', 'LOGIN', 'TRIED']))
  for (const { name, health, install } of agents) {
    // Of one that is missing nothing helps but to install it.
    const advice = health.installed ? health.fix : (install ?? health.fix)
    if (advice !== null) cli.say(`${oneLine(name)}: ${oneLine(advice)}`)
    if (health.warning !== null) cli.say(`${oneLine(name)}: ${oneLine(health.warning)}`)
  }
  for (const { agent, detail, todo } of await failing(cli))
    cli.say(`${oneLine(agent)}: its last runs failed: ${oneLine(detail ?? '', 200)}; ${oneLine(todo ?? '', 200)}`)
  cli.say('* is used when no agent is named. "pawl agents NAME" shows one.')
}

/** A program that needs no login, or cannot tell, has none to show. */
const logins = { true: 'yes', false: 'no', null: '-' }

const stateOf = ({ health }: AgentView) => (health.healthy ? 'ok' : health.installed ? 'not ready' : 'not installed')
const triedOf = ({ tried, isOurs }: AgentView) =>
  isOurs ? 'ours' : tried === null ? 'untried' : tried.from === tried.to ? tried.to : `${tried.from}–${tried.to}`

/** Agents of the daemon, if one runs, whose runs fail although their programs may look well. */
const failing = async (cli: Cli): Promise<AgentRecord[]> =>
  (await askDaemon(cli, async (client) => (await client.health()).agents.filter(({ healthy }) => !healthy))) ?? []

/** Undefined if no daemon runs, or it does not answer: what is known of agents is as true without it, and "pawl doctor" says what is wrong. */
async function askDaemon<T>(cli: Cli, ask: (client: Client) => Promise<T>): Promise<T | undefined> {
  const [{ clientSettings }, { findDaemon }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../daemon/machine/run-file.ts'),
  ])
  const { home } = await clientSettings({ cwd: cli.cwd, ...cli.globals })
  const daemon = await findDaemon(home)
  if (!daemon) return undefined
  const { createClient } = await import('../../client/index.ts')
  const client = createClient({ ...daemon, signal: AbortSignal.timeout(2_000) })
  try {
    return await ask(client)
  } catch {
    return undefined
  } finally {
    client.close()
  }
}
