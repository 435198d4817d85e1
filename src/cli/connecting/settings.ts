import { adapters, presets } from '../../agents/index.ts'
import { type Config, type ConfigFlags, loadConfig, type Untrusted } from '../../config/config.ts'
import { findAgent } from '../../config/load.ts'
import { trustFile } from '../../config/trust.ts'
import { pickDefaultAgent } from '../../daemon/machine/describe-agents.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import { rightsNamed, rightsOf } from '../../domain/profile/resolve.ts'
import type { NewTask } from '../../domain/view/view.ts'
import type { Cli } from '../terminal/cli.ts'
import { oneLine, plain } from '../text/plain.ts'
import { sayOpenWalls } from './open-sandbox.ts'

// Reading all settings costs as much as starting the rest, so commands import this file only when they need it.

/** All settings as they stand for this folder. Says, or on a terminal asks, what to do about a file that is not trusted. */
export async function readSettings(cli: Cli, options: { askTrust: boolean; flags?: ConfigFlags }): Promise<Config> {
  const { home, config: file, databaseUrl, trust } = cli.globals
  const load = () =>
    loadConfig({ cwd: cli.cwd, adapters, presets, flags: { home, config: file, databaseUrl, trust, ...options.flags } })
  const config = await load()
  const { untrusted } = config
  if (!untrusted || !options.askTrust) return config
  if (!cli.isInteractive) {
    sayUntrusted(cli, untrusted)
    return config
  }
  const { confirm } = await import('../terminal/confirm.ts')
  const settings = untrusted.values
    .filter(({ value }) => !Array.isArray(value) || value.length > 0)
    .map(({ path, value }) => `  ${oneLine(path, 100)}: ${oneLine(written(value), 300)}`)
  const message = plain(
    `${oneLine(untrusted.file)} wants to decide what only a trusted file may:\n${settings.join('\n')}\nTrust it as it stands?`,
  )
  if (!(await confirm(message))) {
    cli.say('Not trusted: these settings do not count. "pawl trust" trusts the file later.')
    return config
  }
  await trustFile(config.home, untrusted.file, { hash: untrusted.hash })
  return load()
}

/** What somebody without a terminal is told about a file that is not trusted. */
export function sayUntrusted(cli: Cli, { file, keys }: Untrusted): void {
  const named = keys.map((key) => oneLine(key, 100)).join(', ')
  cli.say(
    `pawl: ${oneLine(file)} is not trusted, so this does not count: ${named}. Read the file, then run "pawl trust" (scripts: --trust or PAWL_TRUST=1).`,
  )
}

/** A value as a person would type it: the words of a command line side by side. */
function written(value: unknown): string {
  if (typeof value === 'string') return value
  const isLine = Array.isArray(value) && value.every((word) => typeof word === 'string' && /^[\w@%+=:,./-]+$/.test(word))
  return isLine ? value.join(' ') : JSON.stringify(value)
}

/** Settings for what must work whatever a file says: the broken ones are left out, the project's first, and named in `problem`. */
export async function readUsableSettings(cli: Cli): Promise<{ config: Config; problem?: string }> {
  const { home, config: file, databaseUrl, trust } = cli.globals
  let problem: string | undefined
  for (const files of ['all', 'home'] as const)
    try {
      const config = await loadConfig({
        cwd: cli.cwd,
        adapters,
        presets,
        flags: { home, config: file, databaseUrl, trust },
        files,
      })
      return { config, ...(problem === undefined ? {} : { problem }) }
    } catch (error) {
      if (!(error instanceof PawlError && error.code === 'invalid')) throw error
      problem ??= error.message
    }
  return {
    config: await loadConfig({
      cwd: cli.cwd,
      adapters,
      presets,
      flags: { home, config: file, databaseUrl, trust },
      files: 'none',
    }),
    problem: problem!,
  }
}

/**
 * The agent for a task, resolved from the settings of this folder and sent whole with the task, so that a daemon started elsewhere runs it right.
 * Nobody named one: the configured default, else the first configured, else the first that works here.
 */
export async function resolveAgent(
  cli: Cli,
  config: Config,
  named: string | undefined,
  profile?: string | undefined,
): Promise<Required<Pick<NewTask, 'agent' | 'agentConfig'>> & Pick<NewTask, 'profile'>> {
  const { source, ...agentConfig } = findNamed(config, named ?? (await pickDefaultAgent(config)))
  if (named === undefined && config.defaultAgent === undefined && source === 'builtin')
    cli.say(`No agent is configured; using "${agentConfig.name}", the first that works here. "pawl agents" lists them.`)
  else if (named === undefined && config.defaultAgent === undefined && !cli.globals.json)
    cli.say(cli.style('faint', `No agent was named; using "${agentConfig.name}", the first configured.`))
  if (profile === undefined) {
    sayOpenWalls(cli, rightsOf(agentConfig))
    return { agent: agentConfig.name, agentConfig }
  }
  // Decided here, because a profile of this folder is unknown to a daemon of another.
  const rights = rightsNamed(profile, config.profiles, { env: config.env })
  sayOpenWalls(cli, rightsOf({ profile, rights }))
  return { agent: agentConfig.name, agentConfig: { ...agentConfig, profile, rights }, profile: undefined }
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
