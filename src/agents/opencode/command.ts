import { posix } from 'node:path'
import { invalid, PawlError } from '../../domain/error.ts'
import type { Command, LaunchSpec } from '../port.ts'
import { takenFlag } from '../shared/flag-names.ts'
import { withRepositoryInstructions } from '../shared/repository.ts'
import { withSkills } from '../shared/skills.ts'
import { goingOn } from './go-on.ts'
import type { OpencodeOptions } from './options.ts'
import { checkPermissions } from './permissions.ts'
import { databaseFile, sessionFiles } from './session-files.ts'
import { settings } from './settings.ts'
import { chooseTransport } from './versions.ts'

const instructionsFile = '.pawl-instructions.md'
const configFolder = '.config/opencode'
const modelsFile = `${configFolder}/pawl-models.json`
const plugin = { '@opencode-ai/plugin': '*' }

/** `opencode acp`, or `opencode run` for one turn; the prompt goes by stdin, the settings by a variable. */
export function opencodeCommand(spec: LaunchSpec<OpencodeOptions>): Command {
  check(spec)
  const { home, options } = spec
  const told = instructions(spec)
  const program = spec.program ?? options.command
  return {
    ...(spec.resume === undefined ? { file: program, args: argumentsOf(spec) } : goingOn(spec, program, argumentsOf(spec))),
    env: {
      ...variables,
      OPENCODE_DB: posix.join(home, databaseFile),
      OPENCODE_MODELS_PATH: posix.join(home, modelsFile),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settings(spec, told === undefined ? [] : [posix.join(home, instructionsFile)])),
    },
    files: { ...files, ...(told !== undefined && { [instructionsFile]: told }) },
  }
}

/** It asks nobody but its model, and takes nothing from the workspace by itself. */
const variables = {
  OPENCODE_CLIENT: 'acp',
  OPENCODE_PURE: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_SHARE: '1',
  OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: '1',
  NO_COLOR: '1',
}

/**
 * Settings that an agent could have left for the next start are gone. At every start the program would fetch a package for plugins, which it does not have; where it finds
 * one noted as installed it does not.
 */
const files: Record<string, string> = {
  [`${configFolder}/config.json`]: '{}',
  [`${configFolder}/opencode.json`]: '{}',
  [`${configFolder}/opencode.jsonc`]: '{}',
  // It has one provider here, which its settings describe; reading what it brings about all others takes a second of each start.
  [modelsFile]: '{}',
  [`${configFolder}/package.json`]: JSON.stringify({ dependencies: plugin }),
  [`${configFolder}/package-lock.json`]: JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies: plugin } } }),
  [`${configFolder}/node_modules/.pawl`]: '',
}

function argumentsOf(spec: LaunchSpec<OpencodeOptions>): string[] {
  const { workspace, resume, options, extraArgs } = spec
  const more = [...options.args, ...extraArgs]
  if (chooseTransport(spec) === 'acp') return ['acp', '--cwd', workspace, ...more]
  // A conversation that is gone on with from another folder is worked on there, and nothing of it is told here.
  return ['run', '--format', 'json', '--dir', workspace, ...(resume === undefined ? [] : ['--session', resume]), ...more]
}

const instructions = (spec: LaunchSpec<OpencodeOptions>) =>
  withRepositoryInstructions(withSkills(spec.systemPrompt, spec.skills), spec)

function check(spec: LaunchSpec<OpencodeOptions>): void {
  checkPermissions(spec)
  if (spec.newSession !== undefined)
    throw new PawlError('unsupported', 'opencode names its conversations itself; it cannot be given an id for a new one.')
  if (spec.resume !== undefined && !sessionFiles.id.test(spec.resume))
    throw invalid(`${JSON.stringify(spec.resume)} is not a conversation of opencode; those begin with ses_.`)
  const extra = [...spec.options.args, ...spec.extraArgs]
  if ([...extra, spec.workspace, spec.home].some((text) => text.includes('\0')))
    throw invalid('An argument for opencode holds a NUL character; remove it.')
  const name = takenFlag(extra, taken)
  if (name !== undefined)
    throw invalid(`The argument ${name} cannot be given to opencode: Pawl itself decides it. Remove it from the agent's args.`)
}

/** An extra argument may add, never take the permissions, the conversation or the way to the model out of our hands. */
const taken: ReadonlySet<string> = new Set([
  ...['--auto', '--yolo', '--dangerously-skip-permissions', '--cwd', '--dir', '--format', '--attach', '--agent', '--share'],
  ...['-s', '--session', '-c', '--continue', '--fork', '-m', '--model', '--port', '--hostname', '--mdns', '--cors', '--command'],
  '--',
])
