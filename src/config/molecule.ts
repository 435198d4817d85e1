import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../domain/base/nearest.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import type { SettingsDocument } from './document.ts'
import { variable } from './env-schema.ts'
import type { Env } from './environment.ts'
import { knownKeys } from './json-schema.ts'
import { faultsOf, formatPath, type Path, type Problem } from './problems.ts'
import type { Programs } from './resolve.ts'

const text = z.string().min(1, { error: 'must not be empty' })
const variableName = z
  .string()
  .regex(variable, { error: 'must be the name of a variable; the key itself does not belong in this file' })

const RuntimeConfig = z.strictObject({
  command: text.optional(),
  args: z.array(z.string()).optional(),
  required_env: z.array(variableName).optional(),
  /** Seconds. 0 or nothing: no limit. */
  timeout: z.union([z.number().min(0), z.literal('')], { error: 'must be a number of seconds, or 0 for no limit' }).nullish(),
  model: text.optional(),
  auth_token_env: variableName.optional(),
  auth_token_file: text.optional(),
})

/** What a workspace says that Pawl has other words for, or that belongs to what surrounds an agent there. */
const elsewhere = [
  'description',
  'version',
  'tier',
  'initial_prompt',
  'initial_prompt_file',
  'idle_prompt',
  'idle_prompt_file',
  'idle_interval_seconds',
  'skills',
  'plugins',
  'tools',
  'shared_context',
  'a2a',
  'delegation',
  'sandbox',
  'rbac',
  'hitl',
  'governance',
  'security_scan',
  'compliance',
  'sub_workspaces',
] as const

const Workspace = z.strictObject({
  name: text.optional(),
  runtime: text,
  runtime_config: RuntimeConfig.nullish(),
  model: text.optional(),
  prompt_files: z.array(text).optional(),
  ...(Object.fromEntries(elsewhere.map((key) => [key, z.unknown().optional()])) as Record<
    (typeof elsewhere)[number],
    z.ZodOptional<z.ZodUnknown>
  >),
})
type Workspace = z.infer<typeof Workspace>

export interface MoleculeFile {
  readonly document: SettingsDocument
  /** What of the file does nothing, or should be written otherwise; sentences. */
  readonly notes: readonly string[]
}

/** True for the settings of a Molecule workspace: one agent, chosen by `runtime`. */
export const isMolecule = ({ value }: SettingsDocument): boolean =>
  isObjectOrArray(value) && !('agents' in value) && ('runtime' in value || 'runtime_config' in value)

/** The same agent in Pawl's own words. Where it is wrong is told in the words of the file. */
export function readMolecule(document: SettingsDocument, programs: Programs, env: Env): MoleculeFile {
  const parsed = Workspace.safeParse(document.value)
  if (!parsed.success) {
    const faults = faultsOf(parsed.error.issues, document.value, (shown) => knownAt(shown))
    return {
      document: { ...document, value: {}, problems: faults.map((fault) => problem(document, fault.path, fault.sentence)) },
      notes: [],
    }
  }
  const workspace = parsed.data
  const runtimes = [...programs.adapters, ...programs.presets].map(({ name }) => name)
  if (!runtimes.includes(workspace.runtime)) {
    const wrong = problem(
      document,
      ['runtime'],
      (where) =>
        `runtime in ${where}: there is no runtime "${workspace.runtime}" (there are ${runtimes.join(', ')})${didYouMean(workspace.runtime, runtimes)}`,
    )
    return { document: { ...document, value: {}, problems: [wrong] }, notes: [] }
  }
  const name = nameOf(workspace)
  const translated = { agents: { [name]: entryOf(workspace, document, { programs, env }) }, defaultAgent: name }
  return {
    document: { ...document, value: translated, written: (path) => writtenAt(path, workspace) },
    notes: notesOf(workspace, document, { programs, env }),
  }
}

/** Names of workspaces are titles; those of agents are typed on a command line. */
function nameOf({ name, runtime }: Workspace): string {
  const slug = (name ?? '')
    .replaceAll(/[^A-Za-z0-9._@-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .replace(/-+$/, '')
    .slice(0, 100)
  return slug === '' || slug in Object.prototype ? runtime : slug
}

function entryOf(
  workspace: Workspace,
  { file }: SettingsDocument,
  { programs, env }: { programs: Programs; env: Env },
): Record<string, unknown> {
  const { runtime, runtime_config: config } = workspace
  const { command, args, required_env: required = [], timeout, auth_token_env: token, auth_token_file } = config ?? {}
  const isPreset = programs.presets.some(({ name }) => name === runtime)
  const takes = takenBy(runtime, programs)
  // The first that holds something is the key; the others are what the program needs besides.
  const key = required.find((name) => (env[name] ?? '').trim() !== '') ?? required[0]
  const keys = [key, token].filter((name) => name !== undefined)
  const model = config?.model ?? workspace.model
  const prompts = workspace.prompt_files?.[0] ?? 'system-prompt.md'
  return {
    [isPreset ? 'preset' : 'adapter']: runtime,
    ...(model === undefined ? {} : { model }),
    ...(command === undefined || !takes('command') ? {} : { command }),
    ...(args === undefined || !takes('args') ? {} : { args }),
    ...(runtime === 'custom' ? { prompt: 'flag', promptFlag: '-p' } : {}),
    ...(timeout === undefined ? {} : { timeout: timeout || 0 }),
    ...(required.length > 0 ? { env: required } : {}),
    ...(keys.length > 0 || auth_token_file !== undefined
      ? {
          auth: {
            ...(keys.length > 0 ? { env: keys } : {}),
            ...(auth_token_file === undefined ? {} : { file: auth_token_file }),
          },
        }
      : {}),
    ...(existsSync(join(dirname(file), prompts)) ? { systemPromptFile: prompts } : {}),
  }
}

/** Which options its adapter has: one whose program is Pawl's own starts no other. */
function takenBy(runtime: string, { adapters, presets }: Programs): (option: string) => boolean {
  const kind = presets.find(({ name }) => name === runtime)?.adapter ?? runtime
  const adapter = adapters.find(({ name }) => name === kind)
  const options = adapter ? knownKeys(adapter.options, []) : []
  return (option) => options.includes(option)
}

/** Where in the file a setting of Pawl's stands. */
function writtenAt(path: Path, { runtime_config: config, name }: Workspace): Path {
  if (path[0] === 'defaultAgent') return name === undefined ? ['runtime'] : ['name']
  if (path[0] !== 'agents') return path
  const [key, part] = path[2] === 'options' ? path.slice(3) : path.slice(2)
  const inConfig = (at: string, ...rest: Path): Path => ['runtime_config', at, ...rest]
  if (key === 'model') return config?.model === undefined ? ['model'] : inConfig('model')
  if (key === 'command' || key === 'timeout') return inConfig(key)
  if (key === 'args') return inConfig('args', ...(part === undefined ? [] : [part]))
  if (key === 'env') return inConfig('required_env')
  if (key === 'auth')
    return part === 'file'
      ? inConfig('auth_token_file')
      : inConfig(config?.required_env?.length ? 'required_env' : 'auth_token_env')
  if (key === 'systemPromptFile') return ['prompt_files']
  return ['runtime']
}

function notesOf(
  workspace: Workspace,
  document: SettingsDocument,
  { programs, env }: { programs: Programs; env: Env },
): string[] {
  const { runtime_config: config, prompt_files: prompts = [] } = workspace
  const at = (path: Path) => `${formatPath(path)} in ${document.file}:${document.placeOf(path).line}`
  const idle = elsewhere.filter((key) => workspace[key] !== undefined)
  const takes = takenBy(workspace.runtime, programs)
  const untaken = (['command', 'args'] as const).filter((key) => config?.[key] !== undefined && !takes(key))
  const unset = (config?.required_env ?? []).filter((name) => (env[name] ?? '').trim() === '')
  return [
    ...(idle.length > 0 ? [`${document.file} is a workspace of Molecule; of it Pawl leaves alone: ${idle.join(', ')}.`] : []),
    ...untaken.map(
      (key) => `${at(['runtime_config', key])} does nothing: Pawl speaks to ${workspace.runtime} by a program of its own.`,
    ),
    ...(['auth_token_env', 'auth_token_file'] as const)
      .filter((key) => config?.[key] !== undefined)
      .map((key) => `${at(['runtime_config', key])} is deprecated: name the variable of the key in required_env.`),
    ...(unset.length > 0
      ? [
          `${at(['runtime_config', 'required_env'])} names ${unset.join(', ')}, which ${unset.length === 1 ? 'is' : 'are'} not set.`,
        ]
      : []),
    ...(prompts.length > 1
      ? [`${at(['prompt_files'])} names ${prompts.length} files; Pawl reads the first, ${prompts[0]}.`]
      : []),
  ]
}

const knownAt = (shown: Path) =>
  Object.keys(shown[0] === 'runtime_config' && shown.length > 1 ? RuntimeConfig.shape : Workspace.shape)

const problem = ({ file, placeOf }: SettingsDocument, path: Path, sentence: (where: string, shown: Path) => string): Problem => ({
  file,
  ...placeOf(path),
  path,
  sentence: (where) => sentence(where, path),
})
