import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { skillName } from '../domain/agent/skill.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import { nameFrom } from '../domain/id.ts'
import { defaultProfile } from '../domain/profile/resolve.ts'
import type { SettingsDocument } from './document.ts'
import { variable } from './env-schema.ts'
import type { Env } from './environment.ts'
import { knownKeys } from './json-schema.ts'
import { absolute } from './places.ts'
import { faultsOf, formatPath, type Path, type Problem } from './problems.ts'
import type { Programs } from './resolve.ts'
import type { ScheduleEntry } from './schedule-entry.ts'

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

/** Describes a workspace to the people and programs around it; no run depends on it. */
const descriptive = ['description', 'version', 'tier', 'a2a'] as const

/** What Pawl decides elsewhere, and where. Passed over in silence it would be missed when it is too late. */
const elsewhere = {
  plugins: 'tools are added as MCP servers, with "pawl mcp-servers add"',
  tools: 'tools are added as MCP servers, with "pawl mcp-servers add"',
  shared_context: 'name those files in prompt_files',
  delegation: 'a task names the agents that it may give subtasks to, with "--subtask-agent"',
  sandbox: 'limits belong to a profile in the settings of Pawl, as in "profiles: {small: {limits: {memory: 256m}}}"',
  rbac: 'rights of people belong to their roles, with "pawl user set"; those of the agent to a profile',
  hitl: 'how long a question waits is said in the settings of Pawl, as in "questions: {deadline: 300s}"',
  governance: 'what an agent may do belongs to the rules of a profile',
  security_scan: 'a command that must pass belongs to the settings of Pawl, as in "checks: [npm audit]"',
  compliance: 'say runtime_config.timeout for the longest run, and "guardrails:" in the settings of Pawl for the rest',
  sub_workspaces: 'give each a file of its own, or write all of them under "agents:" of a pawl.yaml',
} as const

const unknowns = <const Key extends string>(keys: readonly Key[]) =>
  Object.fromEntries(keys.map((key) => [key, z.unknown().optional()])) as Record<Key, z.ZodOptional<z.ZodUnknown>>

const Workspace = z.strictObject({
  name: text.optional(),
  runtime: text,
  runtime_config: RuntimeConfig.nullish(),
  model: text.optional(),
  prompt_files: z.array(text).nullish(),
  initial_prompt: z.string().nullish(),
  initial_prompt_file: z.string().nullish(),
  idle_prompt: z.string().nullish(),
  idle_prompt_file: z.string().nullish(),
  idle_interval_seconds: z.number().min(1, { error: 'must be at least 1 second' }).nullish(),
  skills: z.array(text).nullish(),
  ...unknowns(descriptive),
  ...unknowns(Object.keys(elsewhere) as (keyof typeof elsewhere)[]),
})
type Workspace = z.infer<typeof Workspace>

/** What the workspace file is read with. */
interface Around {
  readonly programs: Programs
  readonly env: Env
  /** Pawl's own folder, in which the skills lie. */
  readonly home: string
}

export interface MoleculeFile {
  readonly document: SettingsDocument
  /** What of the file does nothing, or should be written otherwise; sentences. */
  readonly notes: readonly string[]
}

/** True for the settings of a Molecule workspace: one agent, chosen by `runtime`. */
export const isMolecule = ({ value }: SettingsDocument): boolean =>
  isObjectOrArray(value) && !('agents' in value) && ('runtime' in value || 'runtime_config' in value)

/** The same agent in Pawl's own words. Where it is wrong is told in the words of the file. */
export function readMolecule(document: SettingsDocument, around: Around): MoleculeFile {
  const refused = (problems: readonly Problem[]) => ({ document: { ...document, value: {}, problems }, notes: [] })
  const parsed = Workspace.safeParse(document.value)
  if (!parsed.success) {
    const faults = faultsOf(parsed.error.issues, document.value, (shown) => knownAt(shown))
    return refused(faults.map((fault) => problem(document, fault.path, fault.sentence)))
  }
  const workspace = parsed.data
  const problems = problemsOf(workspace, document, around)
  if (problems.length > 0) return refused(problems)
  const name = (workspace.name === undefined ? undefined : nameFrom(workspace.name)) ?? workspace.runtime
  const schedules = schedulesOf(name, workspace, document, around)
  const skills = workspace.skills ?? []
  const translated = {
    agents: { [name]: entryOf(name, workspace, document, around) },
    defaultAgent: name,
    ...(skills.length > 0 ? { profiles: { [ofName(name, 'skills')]: { extends: defaultProfile, skills } } } : {}),
    ...(schedules ? { schedules } : {}),
  }
  return {
    document: { ...document, value: translated, written: (path) => writtenAt(path, workspace) },
    notes: [
      ...notesOf(workspace, document, around),
      ...(schedules ? [`A daemon with these settings fires the schedules ${Object.keys(schedules).join(' and ')}.`] : []),
    ],
  }
}

/** Everything that cannot be taken over, each with what to do instead. */
function problemsOf(workspace: Workspace, document: SettingsDocument, { programs, home }: Around): Problem[] {
  const { runtime, skills } = workspace
  const folder = dirname(document.file)
  const runtimes = [...programs.adapters, ...programs.presets].map(({ name }) => name)
  const wrong = (path: Path, sentence: string) =>
    problem(document, path, (where, shown) => `${formatPath(shown)} in ${where}${sentence}`)
  const unset = (['initial_prompt_file', 'idle_prompt_file'] as const).filter((key) => {
    const file = workspace[key]
    return isSaid(file) && !isSaid(workspace[inlineOf(key)]) && !existsSync(join(folder, file))
  })
  return [
    ...(runtimes.includes(runtime)
      ? []
      : [
          wrong(
            ['runtime'],
            `: there is no runtime "${runtime}" (there are ${runtimes.join(', ')})${didYouMean(runtime, runtimes)}`,
          ),
        ]),
    ...Object.entries(elsewhere)
      .filter(([key]) => isSaid(workspace[key as keyof typeof elsewhere]))
      .map(([key, instead]) => wrong([key], ` is not taken over: ${instead}. Then take it out here.`)),
    ...unset.map((key) => wrong([key], ` names ${workspace[key]}, which does not exist; make it, or take it out.`)),
    ...(skills ?? []).flatMap((skill, index) =>
      skillName.test(skill) && existsSync(join(home, 'skills', skill, 'SKILL.md'))
        ? []
        : [
            wrong(
              ['skills', index],
              ` names the skill ${JSON.stringify(skill)}, which Pawl does not have; copy ${join(folder, 'skills', skill)} to ${join(home, 'skills', skill)}, or take it out.`,
            ),
          ],
    ),
  ]
}

/** Templates write empty values for what they do not use. */
const isSaid = <Value>(value: Value | null | undefined): value is Value & {} =>
  value !== null && value !== undefined && value !== '' && !(isObjectOrArray(value) && Object.keys(value).length === 0)

const inlineOf = (key: 'initial_prompt_file' | 'idle_prompt_file') =>
  key === 'initial_prompt_file' ? 'initial_prompt' : 'idle_prompt'

/** A name for what belongs to the agent, short enough to be one. */
const ofName = (name: string, what: string) => `${name.slice(0, 55)}-${what}`

/** The first message, sent once, and the one that follows a time of rest: the stored schedule is the mark that it was sent. */
function schedulesOf(
  name: string,
  workspace: Workspace,
  { file }: SettingsDocument,
  { home }: Around,
): Record<string, ScheduleEntry> | undefined {
  const folder = dirname(file)
  const textOf = (key: 'initial_prompt_file' | 'idle_prompt_file') => {
    const inline = workspace[inlineOf(key)]
    if (isSaid(inline)) return inline
    const named = workspace[key]
    const read = isSaid(named) ? readFileSync(join(folder, named), 'utf8').trim() : ''
    return read === '' ? undefined : read
  }
  const initial = textOf('initial_prompt_file')
  const idle = textOf('idle_prompt_file')
  if (initial === undefined && idle === undefined) return undefined
  // Nobody works in Pawl's own folder: what stands there is for all folders.
  const common = { agent: name, ...(resolve(folder) === resolve(home) ? {} : { workspace: folder }) }
  return {
    ...(initial === undefined ? {} : { [ofName(name, 'initial')]: { ...common, when: 'initial', prompt: initial } }),
    ...(idle === undefined
      ? {}
      : {
          [ofName(name, 'idle')]: {
            ...common,
            when: `idle ${workspace.idle_interval_seconds ?? 600}s`,
            prompt: idle,
            session: 'keep',
            overlap: 'skip',
          },
        }),
  }
}

/** The files of the system prompt that are there, and those that are not. */
function promptsOf({ prompt_files: named }: Workspace, { file }: SettingsDocument): { there: string[]; missing: string[] } {
  const isThere = (prompt: string) => existsSync(join(dirname(file), prompt))
  const wanted = named?.length ? named : ['system-prompt.md'].filter(isThere)
  return { there: wanted.filter(isThere), missing: wanted.filter((prompt) => !isThere(prompt)) }
}

function entryOf(
  name: string,
  workspace: Workspace,
  document: SettingsDocument,
  { programs, env }: Around,
): Record<string, unknown> {
  const { runtime, runtime_config: config } = workspace
  const { command, args, required_env: required = [], timeout, auth_token_env: token, auth_token_file } = config ?? {}
  const isPreset = programs.presets.some((preset) => preset.name === runtime)
  const takes = takenBy(runtime, programs)
  // The first that holds something is the key; the others are what the program needs besides.
  const key = required.find((one) => (env[one] ?? '').trim() !== '') ?? required[0]
  const keys = [key, token].filter((one) => one !== undefined)
  const model = config?.model ?? workspace.model
  const prompts = promptsOf(workspace, document).there
  return {
    [isPreset ? 'preset' : 'adapter']: runtime,
    ...(model === undefined ? {} : { model }),
    ...(command === undefined || !takes('command') ? {} : { command }),
    ...(args === undefined || !takes('args') ? {} : { args }),
    // Nobody knows its flags: nothing is added to its command line but the prompt.
    ...(runtime === 'custom'
      ? {
          prompt: 'flag',
          promptFlag: '-p',
          ...(model === undefined ? {} : { modelVariable: 'MODEL' }),
          ...(prompts.length > 0 ? { systemPromptVia: 'prefix' } : {}),
        }
      : {}),
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
    ...(prompts.length > 0 ? { systemPromptFile: prompts } : {}),
    ...(workspace.skills?.length ? { profile: ofName(name, 'skills') } : {}),
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
function writtenAt(path: Path, workspace: Workspace): Path {
  const { runtime_config: config, name } = workspace
  if (path[0] === 'profiles') return ['skills']
  if (path[0] === 'schedules') {
    const key = String(path[1]).endsWith('-initial') ? 'initial_prompt_file' : 'idle_prompt_file'
    return path[2] === 'when' && key === 'idle_prompt_file' && isSaid(workspace.idle_interval_seconds)
      ? ['idle_interval_seconds']
      : [isSaid(workspace[inlineOf(key)]) ? inlineOf(key) : key]
  }
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
  if (key === 'profile') return ['skills']
  return ['runtime']
}

function notesOf(workspace: Workspace, document: SettingsDocument, { programs, env }: Around): string[] {
  const { runtime_config: config } = workspace
  const at = (path: Path) => `${formatPath(path)} in ${document.file}:${document.placeOf(path).line}`
  const idle = descriptive.filter((key) => isSaid(workspace[key]))
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
          `${at(['runtime_config', 'required_env'])} names ${unset.join(', ')}, which ${unset.length === 1 ? 'is' : 'are'} not set; set ${unset.length === 1 ? 'it' : 'them'} where Pawl is started.`,
        ]
      : []),
    ...(isSaid(config?.auth_token_file) && !existsSync(absolute(config.auth_token_file, dirname(document.file), env.HOME))
      ? [
          `${at(['runtime_config', 'auth_token_file'])} names ${config.auth_token_file}, which does not exist; write the key there, or take it out.`,
        ]
      : []),
    ...promptsOf(workspace, document).missing.map(
      (prompt) => `${at(['prompt_files'])} names ${prompt}, which does not exist; make it, or take it out.`,
    ),
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
