import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import { notFound } from '../domain/error.ts'
import type { CodePath } from '../domain/workspace/code-paths.ts'
import { a2a } from './a2a/agent.ts'
import { acp } from './acp/agent.ts'
import { claudeCode } from './claude-code/agent.ts'
import { codex } from './codex/agent.ts'
import { custom } from './custom/agent.ts'
import { demo } from './demo/agent.ts'
import { geminiCli } from './gemini-cli/agent.ts'
import { ollama } from './ollama/agent.ts'
import { opencode } from './opencode/agent.ts'
import type { Adapter, TriedVersions } from './port.ts'
import { presets } from './presets/index.ts'
import { otherCodePaths } from './shared/other-code-paths.ts'

export { presets }

/** Every kind of agent program that Pawl can speak to. */
export const adapters: readonly Adapter[] = [claudeCode, codex, geminiCli, opencode, acp, a2a, custom, ollama, demo]

/** What agent programs obey of a workspace, all of them: what one run plants, another program may read. Some obey the same, and say the same of it. */
export const agentCodePaths: readonly CodePath[] = [
  ...new Map(
    [...adapters.flatMap(({ codePaths = [], login }) => [...codePaths, ...loginsOf(login)]), ...otherCodePaths].map((path) => [
      path.path.toLowerCase(),
      path,
    ]),
  ).values(),
]

/** Copied by Pawl for the run that needs one; no other may read it. */
function loginsOf(login: Adapter['login']): CodePath[] {
  return (login?.files ?? []).map(({ path }) => ({ path, treatment: 'secret', runs: 'logins' }))
}

/** With the options of an agent: as it is for that agent. */
export function adapterNamed(name: string, options?: unknown): Adapter {
  const found = adapters.find((adapter) => adapter.name === name)
  if (found) return suitedTo(found, options)
  const names = adapters.map((adapter) => adapter.name)
  throw notFound(`There is no adapter "${name}"${didYouMean(name, names)} Adapters are: ${names.join(', ')}.`)
}

/** What is known of the program itself: by the preset that the agent is, or else by its adapter. */
export function programOf({
  adapter,
  options,
  preset: named,
}: Pick<ResolvedAgent, 'adapter' | 'options' | 'preset'>): KnownProgram {
  const preset = presets.find(({ name }) => name === named)
  if (!preset) return adapterNamed(adapter, options)
  const { title, tried, install } = preset
  return { title, install, tried: tried === 'untried' ? undefined : { from: tried, to: tried } }
}

export interface KnownProgram {
  readonly title: string
  readonly tried?: TriedVersions | undefined
  readonly install?: string | undefined
}

/** Asked several times for every task, with options that nobody changes. */
const suited = new WeakMap<object, Adapter>()

function suitedTo(adapter: Adapter, options: unknown): Adapter {
  if (!adapter.suited || !isObjectOrArray(options)) return adapter
  const known = suited.get(options)
  if (known?.name === adapter.name) return known
  const parsed = adapter.options.safeParse(options)
  const made = parsed.success ? adapter.suited(parsed.data) : adapter
  suited.set(options, made)
  return made
}
