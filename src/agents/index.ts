import type { Adapter } from '../agent.ts'
import type { CodePath } from '../domain/code-paths.ts'
import { notFound } from '../domain/error.ts'
import { didYouMean } from '../domain/nearest.ts'
import { claudeCode } from './claude-code/agent.ts'
import { codex } from './codex/agent.ts'
import { custom } from './custom/agent.ts'
import { demo } from './demo/agent.ts'
import { otherCodePaths } from './other-code-paths.ts'

/** Every kind of agent program that Pawl can speak to. */
export const adapters: readonly Adapter[] = [claudeCode, codex, custom, demo]

/** What agent programs obey of a workspace, all of them: what one run plants, another program may read. */
export const agentCodePaths: readonly CodePath[] = [...adapters.flatMap((adapter) => adapter.codePaths ?? []), ...otherCodePaths]

export function adapterNamed(name: string): Adapter {
  const found = adapters.find((adapter) => adapter.name === name)
  if (found) return found
  const names = adapters.map((adapter) => adapter.name)
  throw notFound(`There is no adapter "${name}"${didYouMean(name, names)} Adapters are: ${names.join(', ')}.`)
}
