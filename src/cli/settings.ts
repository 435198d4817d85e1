import { adapters } from '../agents/index.ts'
import { findAgent } from '../config/load.ts'
import { trustFile } from '../config/trust.ts'
import { type Config, type ConfigFlags, loadConfig } from '../config.ts'
import { pickDefaultAgent } from '../describe.ts'
import { invalid, PawlError } from '../domain/error.ts'
import type { NewTask } from '../domain/view.ts'
import type { Cli } from './cli.ts'
import { oneLine, plain } from './plain.ts'

// Reading all settings costs as much as starting the rest, so commands import this file only when they need it.

/** All settings as they stand for this folder. Says, or on a terminal asks, what to do about a file that is not trusted. */
export async function readSettings(cli: Cli, options: { askTrust: boolean; flags?: ConfigFlags }): Promise<Config> {
  const { home, databaseUrl, trust } = cli.globals
  const load = () => loadConfig({ cwd: cli.cwd, adapters, flags: { home, databaseUrl, trust, ...options.flags } })
  const config = await load()
  const { untrusted } = config
  if (!untrusted || !options.askTrust) return config
  const file = oneLine(untrusted.file)
  const keys = untrusted.keys.map((key) => oneLine(key, 100))
  if (!cli.isInteractive) {
    cli.say(`pawl: ${file} is not trusted, so this does not count: ${keys.join(', ')}. Read the file, then run "pawl trust".`)
    return config
  }
  const { confirm } = await import('./confirm.ts')
  const message = plain(
    `${file} wants to decide what only a trusted file may:\n${keys.map((key) => `  ${key}`).join('\n')}\nTrust it as it stands?`,
  )
  if (!(await confirm(message))) {
    cli.say('Not trusted: these settings do not count. "pawl trust" trusts the file later.')
    return config
  }
  await trustFile(config.home, untrusted.file, { hash: untrusted.hash })
  return load()
}

/**
 * The agent for a task, resolved from the settings of this folder and sent whole with the task, so that a daemon started elsewhere runs it right.
 * Nobody named one: the configured default, else the first configured, else the first that works here.
 */
export async function resolveAgent(
  cli: Cli,
  config: Config,
  named: string | undefined,
): Promise<Required<Pick<NewTask, 'agent' | 'agentConfig'>>> {
  const { source, ...agentConfig } = findNamed(config, named ?? (await pickDefaultAgent(config)))
  if (named === undefined && config.defaultAgent === undefined && source === 'builtin')
    cli.say(`No agent is configured; using "${agentConfig.name}", the first that works here. "pawl agents" lists them.`)
  return { agent: agentConfig.name, agentConfig }
}

function findNamed(config: Config, name: string) {
  try {
    return findAgent(config, name)
  } catch (error) {
    // Whoever typed a name that is not there made a mistake of usage.
    if (error instanceof PawlError && error.code === 'not_found') throw invalid(error.message)
    throw error
  }
}
