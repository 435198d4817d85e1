import { posix } from 'node:path'
import { invalid, PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { doorServers } from '../shared/door-servers.ts'
import { withRepositoryInstructions } from '../shared/repository.ts'
import { firstStart } from './first-start.ts'
import { checkAllowed, laterTools, laterVariables } from './later-tools.ts'
import { nativeTools } from './native-tools.ts'
import type { ClaudeCodeOptions } from './options.ts'
import { askedTools, freeTools, permissionVariables } from './permissions.ts'
import { sessionId } from './session-files.ts'
import { skillArgs, skillVariables, subagentArgs } from './skills.ts'
import { knows } from './versions.ts'

/** Linux takes 128 KiB for one argument; the rest is room for a flag. */
const maxArgumentBytes = 100 * 1024
const systemPromptFile = '.pawl-system-prompt.txt'

/** A process that takes prompts on stdin, says everything as JSON lines, and comes to us with whatever is not already allowed. */
export function claudeCommand(spec: LaunchSpec<ClaudeCodeOptions>): Command {
  const { options } = spec
  const model = readModel(spec.model)
  const files: Record<string, string> = {}
  const extra = [...options.args, ...spec.extraArgs]
  for (const argument of extra) checkExtra(argument)
  const allowed = [...options.allowedTools, ...(spec.allowedTools ?? [])]
  checkAllowed(allowed)
  const args = [
    '-p',
    ...session(spec),
    '--output-format=stream-json',
    '--input-format=stream-json',
    '--verbose',
    ...(options.partialMessages ? ['--include-partial-messages'] : []),
    ...flag('--model', model?.name),
    ...budget(spec),
    '--permission-prompt-tool=stdio',
    // None: settings can grant permissions, set variables and start programs, and whatever the agent can write, its home too, it could plant them in.
    '--setting-sources=',
    ...systemPrompt(spec, files),
    ...freeTools(allowed, spec).flatMap((tool) => flag('--allowedTools', tool)),
    ...(spec.tools ? ['--allowedTools=mcp__pawl'] : []),
    ...[...laterTools, ...options.disallowedTools, ...(spec.disallowedTools ?? [])].flatMap((tool) =>
      flag('--disallowedTools', tool),
    ),
    ...nativeTools(spec),
    ...skillArgs(spec),
    ...subagentArgs(spec),
    ...[...options.addDirs, ...(spec.contextDirs ?? [])].flatMap((folder) => flag('--add-dir', folder)),
    ...flag('--max-turns', least(options.maxTurns, spec.maxTurns)?.toString()),
    ...settings(spec),
    '--strict-mcp-config',
    ...tools(spec),
    ...outputSchema(spec),
    ...extra,
  ]
  for (const argument of args) checkArgument(argument)
  return { file: spec.program ?? options.command, args, env: environment(spec, model), files, firstFiles: firstStart(spec) }
}

/** Behind an equals sign no value can be taken for a flag. */
const flag = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}=${value}`])

const least = (...limits: (number | undefined)[]) => {
  const set = limits.filter((limit) => limit !== undefined)
  return set.length > 0 ? Math.min(...set) : undefined
}

function session({ resume, newSession }: LaunchSpec<ClaudeCodeOptions>): string[] {
  const id = resume ?? newSession
  if (id !== undefined && !sessionId.test(id)) {
    throw invalid(`${JSON.stringify(id)} is not a session of Claude Code; those are UUIDs.`)
  }
  return resume === undefined ? flag('--session-id', newSession) : flag('--resume', resume)
}

/** `claude-sonnet-4-5:mode=thinking` is that model with thinking turned on. */
function readModel(model: string | undefined): { name: string; thinks: boolean } | undefined {
  if (model === undefined) return undefined
  const [name = '', mode] = model.split(':mode=')
  if (name === '') throw invalid(`The model ${JSON.stringify(model)} has no name.`)
  if (mode !== undefined && mode !== 'thinking') {
    throw invalid(`The model ${JSON.stringify(model)} names a mode that does not exist; the only one is :mode=thinking.`)
  }
  return { name, thinks: mode === 'thinking' }
}

function budget({ maxUsd, version }: LaunchSpec<ClaudeCodeOptions>): string[] {
  // Less than a cent would be written as 0.00, which is no budget at all. Ours counts whatever the program does.
  if (maxUsd === undefined || maxUsd < 0.005 || !knows(version, '--max-budget-usd')) return []
  return flag('--max-budget-usd', maxUsd.toFixed(2))
}

/** By file where the program takes one: arguments are short, and everybody on the machine can read them. */
function systemPrompt(spec: LaunchSpec<ClaudeCodeOptions>, files: Record<string, string>): string[] {
  const { version, home } = spec
  const systemPrompt = withRepositoryInstructions(spec.systemPrompt, spec)
  if (systemPrompt === undefined) return []
  // Else the program repeats the instructions of the conversation's first run for ever.
  const fresh = knows(version, '--system-prompt-snapshot') ? ['--system-prompt-snapshot=off'] : []
  if (!knows(version, '--append-system-prompt-file')) return [...flag('--append-system-prompt', systemPrompt), ...fresh]
  files[systemPromptFile] = systemPrompt
  return [...flag('--append-system-prompt-file', posix.join(home, systemPromptFile)), ...fresh]
}

/** The only settings that count, as those of files are not read. */
function settings(spec: LaunchSpec<ClaudeCodeOptions>): string[] {
  const ask = askedTools(spec)
  const all = {
    ...(spec.access?.kind === 'script' ? { apiKeyHelper: quoted(spec.access.path) } : {}),
    ...(ask.length > 0 ? { permissions: { ask } } : {}),
  }
  return Object.keys(all).length > 0 ? flag('--settings', JSON.stringify(all)) : []
}

/** All of them over its own pipe: connecting to the door costs it a tenth of its start. */
function tools(spec: LaunchSpec<ClaudeCodeOptions>): string[] {
  const servers = doorServers(spec)
  if (servers.length === 0) return []
  const entries = servers.map(({ name }) => [name, { type: 'sdk', name }])
  return flag('--mcp-config', JSON.stringify({ mcpServers: Object.fromEntries(entries) }))
}

function outputSchema({ outputSchema, version }: LaunchSpec<ClaudeCodeOptions>): string[] {
  if (outputSchema === undefined) return []
  if (!knows(version, '--json-schema')) {
    throw new PawlError('unsupported', `Claude Code ${version} cannot answer by a schema; update it, or ask for plain text.`)
  }
  return flag('--json-schema', JSON.stringify(outputSchema))
}

function environment(
  spec: LaunchSpec<ClaudeCodeOptions>,
  model: { name: string; thinks: boolean } | undefined,
): Record<string, string> {
  return {
    CLAUDE_CONFIG_DIR: posix.join(spec.home, '.claude'),
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Left alone it tries ten times in three minutes, a refused key too. Whether and when to try again is for Pawl to say.
    CLAUDE_CODE_MAX_RETRIES: '0',
    ...laterVariables,
    ...skillVariables(spec),
    ...permissionVariables(spec),
    ...(spec.baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: spec.baseUrl }),
    ...smallModel(spec, model),
    ...(model?.thinks ? { MAX_THINKING_TOKENS: String(spec.options.thinkingTokens) } : {}),
    // Else the model is not told of our tools until it searches for them.
    ...(spec.tools ? { ENABLE_TOOL_SEARCH: 'false' } : {}),
    ...(spec.walled ? { IS_SANDBOX: '1' } : {}),
  }
}

/** What it gives to a smaller model of its maker must be asked of one that is served. */
function smallModel(
  { servedModels }: LaunchSpec<ClaudeCodeOptions>,
  model: { name: string } | undefined,
): Record<string, string> {
  if (!servedModels || !model) return {}
  return { ANTHROPIC_DEFAULT_HAIKU_MODEL: model.name, ANTHROPIC_SMALL_FAST_MODEL: model.name }
}

/** It is run by a shell. */
const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`

const taken = [
  ['-p', '--print', '--input-format', '--output-format', '--verbose', '--replay-user-messages', '--include-partial-messages'],
  ['-r', '--resume', '-c', '--continue', '--session-id', '--fork-session', '--no-session-persistence', '--from-pr', '--teleport'],
  ['--permission-mode', '--permission-prompt-tool', '--permission-prompts', '--dangerously-skip-permissions'],
  [
    '--allow-dangerously-skip-permissions',
    '--setting-sources',
    '--settings',
    '--managed-settings',
    '--allowedTools',
    '--allowed-tools',
    '--tools',
    '--agents',
    '--bg',
    '--background',
    '--cloud',
    '--',
  ],
].flat()

/** An extra argument may add, never take the conversation or the permissions out of our hands. */
function checkExtra(argument: string): void {
  const name = argument.split('=')[0] ?? ''
  if (!taken.includes(name)) return
  throw invalid(`The argument ${name} cannot be given to Claude Code: Pawl itself decides it. Remove it from the agent's args.`)
}

function checkArgument(argument: string): void {
  const name = argument.split('=')[0] ?? ''
  if (argument.includes('\0')) throw invalid(`A command line cannot carry a NUL character, and ${name} holds one; remove it.`)
  const bytes = Buffer.byteLength(argument)
  if (bytes <= maxArgumentBytes) return
  throw invalid(`${name} has ${bytes} bytes; as an argument it may have ${maxArgumentBytes}. Shorten it.`)
}
