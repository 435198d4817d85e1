import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { invalid, PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { doorServers } from '../shared/door-servers.ts'
import { takenFlag } from '../shared/flag-names.ts'
import type { GeminiCliOptions } from './options.ts'
import { checkRules } from './rules.ts'
import { sessionFiles, slugOf } from './session-files.ts'
import { authType, homeFiles, ownEndpoint } from './settings.ts'
import { chooseTransport } from './transport.ts'

type Spec = LaunchSpec<GeminiCliOptions>

/** `gemini --acp`, or one call with its prompt on stdin; all settings are files of the session home. */
export function geminiCommand(spec: Spec): Command {
  check(spec)
  return {
    file: spec.program ?? spec.options.command,
    args: [
      ...(chooseTransport(spec) === 'acp' ? ['--acp'] : ['--output-format=stream-json']),
      ...(spec.resume === undefined ? [] : [`--resume=${spec.resume}`]),
      ...(spec.model === undefined ? [] : [`--model=${spec.model}`]),
      // Whatever it is to ask about, our own rules say so.
      '--approval-mode=yolo',
      ...(spec.tools
        ? doorServers(spec).map(({ name }) => `--allowed-mcp-server-names=${name}`)
        : ['--allowed-mcp-server-names=none']),
      '--extensions=none',
      ...(spec.contextDirs ?? []).map((folder) => `--include-directories=${folder}`),
      ...spec.options.args,
      ...spec.extraArgs,
    ],
    env: environment(spec),
    files: homeFiles(spec, slugOf(spec.home, spec.resume)),
  }
}

function environment(spec: Spec): Record<string, string> {
  const usesKey = authType(spec.access, spec.baseUrl) === 'gemini-api-key'
  return {
    GEMINI_CLI_HOME: spec.home,
    // It would start itself a second time, for more memory.
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_SYSTEM_MD: 'false',
    NO_COLOR: '1',
    ...(usesKey ? { GOOGLE_GEMINI_BASE_URL: spec.baseUrl ?? ownEndpoint } : {}),
    // A service that wants no key is reached with any.
    ...(usesKey && spec.access?.kind !== 'variable' ? { GEMINI_API_KEY: 'none' } : {}),
  }
}

function check(spec: Spec): void {
  checkRules(spec)
  if (spec.allowedTools?.length)
    throw new PawlError(
      'unsupported',
      'Gemini CLI takes no list of tools that need no permission: the rules of the profile decide that. Leave allowedTools out.',
    )
  if (spec.newSession !== undefined)
    throw new PawlError('unsupported', 'Gemini CLI names its conversations itself; it cannot be given an id for a new one.')
  if (spec.access?.kind === 'variable' && spec.access.name !== 'GEMINI_API_KEY')
    throw new PawlError('unsupported', `Gemini CLI takes its key from GEMINI_API_KEY, not from ${spec.access.name}.`)
  // An empty one would be taken for the latest.
  if (spec.resume !== undefined && !sessionFiles.id.test(spec.resume))
    throw invalid(`${JSON.stringify(spec.resume)} is not a conversation of Gemini CLI; those are UUIDs.`)
  if ([...spec.options.args, ...spec.extraArgs, spec.workspace, spec.home].some((text) => text.includes('\0')))
    throw invalid('An argument for Gemini CLI holds a NUL character; remove it.')
  if (!spec.walled) checkWorkspace(spec)
  const name = takenFlag([...spec.options.args, ...spec.extraArgs], taken)
  if (name !== undefined)
    throw invalid(`The argument ${name} cannot be given to Gemini CLI: Pawl itself decides it. Remove it from the agent's args.`)
}

/** What walls hide is obeyed where there are none. */
function checkWorkspace({ workspace, instructions }: Spec): void {
  const [found] = ['.gemini', ...(instructions === false ? ['GEMINI.md'] : [])]
    .map((name) => posix.join(workspace, name))
    .filter((path) => existsSync(path))
  if (found === undefined) return
  throw new PawlError(
    'unsupported',
    `Gemini CLI would obey ${found} of the workspace, which the profile does not allow: run the task within walls, or move it away.`,
  )
}

/** An extra argument may add, never take the prompt, the conversation or the permissions out of our hands. */
const taken: ReadonlySet<string> = new Set(
  [
    ['-p', '--prompt', '-i', '--prompt-interactive', '-o', '--output-format', '--acp', '--experimental-acp'],
    ['-y', '--yolo', '--approval-mode', '--policy', '--admin-policy', '--allowed-tools', '--allowed-mcp-server-names'],
    ['-r', '--resume', '--session-id', '--session-file', '--list-sessions', '--delete-session'],
    ['--skip-trust', '-s', '--sandbox', '-w', '--worktree', '-e', '--extensions', '--'],
  ].flat(),
)
