/**
 * The front of all settings, and the only reader of the environment. The schema and what it takes to check a file lie in `config/` and are loaded when
 * settings are really read: a client of a running daemon pays nothing for them.
 */
import { resolve } from 'node:path'
import type { Config, ConfigOptions } from './load.ts'
import { absolute, findProjectFile } from './places.ts'

export type { Config, ConfigFlags, Untrusted } from './load.ts'
export type { ConfiguredAgent } from './resolve.ts'

/** Reads all settings. Makes the home on first use. Refuses with every problem at once, each with its place. */
export async function loadConfig(
  options: Omit<ConfigOptions, 'env'> & { env?: ConfigOptions['env'] | undefined },
): Promise<Config> {
  const { loadConfig: load } = await import('./load.ts')
  return load({ ...options, env: options.env ?? process.env })
}

export interface ClientSettings {
  readonly home: string
  /** The agent that the environment names for tasks that name none. */
  readonly agent: string | undefined
  /** Settings of this folder: if there are any, only reading all settings tells what counts. */
  readonly projectFile: string | undefined
}

/** The little that a client of a running daemon needs. */
export async function clientSettings(options: {
  cwd: string
  home?: string | undefined
  config?: string | undefined
}): Promise<ClientSettings> {
  const { PAWL_HOME, PAWL_CONFIG, PAWL_AGENT, HOME } = process.env
  const named = options.config || PAWL_CONFIG
  const cwd = resolve(options.cwd)
  return {
    home: absolute(options.home || PAWL_HOME || '~/.pawl', cwd, HOME),
    agent: PAWL_AGENT || undefined,
    projectFile: named ? absolute(named, cwd, HOME) : await findProjectFile(cwd),
  }
}

/** Where programs are looked for, by us and by the agents we start. */
export const searchPath = () => process.env.PATH || '/usr/local/bin:/usr/bin:/bin'

/** The named variables of our own environment that are set. */
export function environmentOf(names: readonly string[]): Record<string, string> {
  const set = names.map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(set.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}
