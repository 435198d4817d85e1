import { chownSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { Adapter, AgentHealth, Command, LaunchSpec } from '../../agents/port.ts'
import { hostPath, isInside } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import { toolAccess } from '../../domain/profile/access.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { mergeEnvironments } from '../../domain/profile/resolve.ts'
import { proxyEnvironment } from '../../sandbox/egress/environment.ts'
import { inFolderOf, isThere } from '../../sandbox/files/directory-handle.ts'
import { readNamedFile, readRegular } from '../../sandbox/files/read-file.ts'
import type { SandboxHealth } from '../../sandbox/port.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { findProgram } from '../../sandbox/process/program.ts'
import type { TakenRun } from '../../store/runs.ts'
import { failingAs, RunFailure } from '../base/failure.ts'
import { artifactFolder } from '../files/artifacts.ts'
import { serversFor } from '../mcp-servers/run-servers.ts'
import type { RunModels } from '../models/run-models.ts'
import { renderRole } from '../tasks/templates.ts'
import { questionFileVariables } from './question-file.ts'
import type { RunParts } from './run.ts'

/** Where walls cannot be built, only somebody who watches, our own program, or a profile that says so may go on. */
export function refuseOpenWalls(
  { task }: TakenRun,
  { adapter, profile, health }: { adapter: Adapter; profile: Profile; health: SandboxHealth },
): void {
  if (health.enforced || task.attended || adapter.isOurs || !profile.walls) return
  const cure = health.fix ? `${health.fix}, or ` : ''
  throw new RunFailure(
    'sandbox_error',
    `Agent "${task.agent}" may not run unattended without walls, and none can be built here: ${health.detail} Cure: ${cure}run "pawl doctor --fix", or name the profile unattended-open.`,
  )
}

/** All at once and beside our own thread: to make a folder takes the file system longer than anything else that is asked of it here. */
export async function makeDirectories(
  { ours, agents }: { readonly ours: readonly string[]; readonly agents: readonly string[] },
  user: AgentUser | undefined,
): Promise<void> {
  await Promise.all([...ours, ...agents].map((path) => mkdir(path, { recursive: true, mode: 0o700 })))
  if (user) for (const path of agents) chownSync(path, user.uid, user.gid)
}

/** What the adapter needs to know to start its program, but for the conversation and the prompt, which the session decides. */
export type Wanted = Omit<LaunchSpec, 'prompt' | 'images' | 'resume' | 'newSession' | 'access'>

export async function wantedOf(
  taken: TakenRun,
  adapter: Adapter,
  place: {
    workspace: string
    home: string
    /** Where templates lie. */
    pawlHome: string
    profile: Profile
    places: readonly string[]
    walled: boolean
    program: AgentHealth
    skills?: Pick<LaunchSpec, 'skills' | 'subagents'>
    /** Where a long prompt lies, and where attached files do. */
    folders?: readonly (string | undefined)[] | undefined
    /** What is left of the budget. */
    leftUsd?: number | undefined
    models?: Pick<RunModels, 'url' | 'served'> | undefined
  },
): Promise<Wanted> {
  const { task } = taken
  const agent = task.agent_config
  refuseUnableTools(adapter, place.profile)
  const options = adapter.options.safeParse(agent.options)
  if (!options.success)
    throw new RunFailure(
      'bad_config',
      `Agent "${agent.name}": ${options.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
    )
  return {
    options: options.data,
    model: agent.model,
    systemPrompt: withMounts(
      joined(
        await roleOf(taken, place),
        agent.systemPromptFile ? await readSystemPrompts(agent.systemPromptFile, taken) : agent.systemPrompt,
        task.spec.appendSystemPrompt,
      ),
      // A plain command may take no system prompt; it finds them in its environment.
      adapter.can.mcp ? place.places : [],
    ),
    workspace: place.workspace,
    home: place.home,
    walled: place.walled,
    program: place.program.program,
    version: place.program.version,
    // There is no network inside: the model is reached through the door, also by those that go past the gateway.
    baseUrl: place.models?.url ?? (agent.baseUrl && place.walled ? '{{PAWL_DOOR_URL}}/model' : agent.baseUrl),
    endpoint: agent.baseUrl,
    servedModels: place.models?.served,
    outputSchema: adapter.can.structuredOutput ? (task.output_schema ?? undefined) : undefined,
    maxTurns: agent.budget.turns,
    // What the gateway serves is counted there, before it is spent; the program may know other prices.
    maxUsd: place.models ? undefined : least(agent.budget.perRunUsd, agent.budget.usd, place.leftUsd),
    allowedTools: task.spec.allowedTools,
    disallowedTools: task.spec.disallowedTools,
    contextDirs: [...(task.spec.contextDirs ?? []), ...(place.folders ?? []).filter((folder) => folder !== undefined)],
    tools: adapter.can.mcp,
    servers: Object.keys(serversFor(taken, { adapter, profile: place.profile })),
    native: place.profile.tools.native,
    disabledTools: place.profile.tools.disabled,
    toolAccess: adapter.ownTools && toolAccess(place.profile, adapter.ownTools),
    ...place.skills,
    extraArgs: task.extra_args,
  }
}

/** Rendered anew for each run, with what holds for it. */
function roleOf(taken: TakenRun, place: Parameters<typeof wantedOf>[2]): Promise<string> | undefined {
  const { spec, agent_config: agent } = taken.task
  const role = spec.role ?? agent.role
  return role === undefined ? undefined : failingAs('bad_config', () => renderRole(place.pawlHome, role, taken, place))
}

const joined = (...texts: (string | undefined)[]) => texts.filter((text) => text !== undefined).join('\n\n') || undefined

const least = (...caps: (number | undefined)[]) => {
  const set = caps.filter((cap) => cap !== undefined)
  return set.length > 0 ? Math.min(...set) : undefined
}

/** A program that takes no tools of ours has none that we know of: its walls are what is strict about it. */
function refuseUnableTools({ can, title }: Adapter, { name, tools }: Profile): void {
  if (tools.native || !can.mcp || can.nativeToolsOff) return
  throw new RunFailure(
    'bad_config',
    `${title} cannot do without its own tools, which profile "${name}" switches off (tools.native): use an agent that can, or a profile that leaves them on, such as guarded.`,
  )
}

/** An agent that is not told of a place does not look for it. */
function withMounts(prompt: string | undefined, lines: readonly string[]): string | undefined {
  if (lines.length === 0) return prompt
  const told = `Beside the workspace you have:\n${lines.join('\n')}`
  return prompt === undefined ? told : `${prompt}\n\n${told}`
}

/** All files in their order. */
async function readSystemPrompts(files: string | readonly string[], { task }: TakenRun): Promise<string> {
  const { systemPrompt } = task.agent_config
  if (typeof files === 'string') return readSystemPrompt(files, systemPrompt, task.workspace)
  const texts = await Promise.all(files.map((file) => readSystemPrompt(file, undefined, task.workspace)))
  return texts.map((text) => text.trim()).join('\n\n')
}

/** Read anew for each run; the configured text stands in for a file that is gone. */
export async function readSystemPrompt(file: string, instead: string | undefined, workspace: string): Promise<string> {
  const read = isInside(hostPath(workspace), hostPath(file)) ? readThere(file) : readNamedFile(file)
  return read.catch((error: unknown) => {
    if (instead !== undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return instead
    throw new RunFailure('bad_config', `The system prompt file ${file} cannot be read: ${messageOf(error)}.`)
  })
}

/** In the workspace the agent itself may have put a link to somebody's secret there, which it would be told then. */
async function readThere(file: string): Promise<string> {
  const found = await inFolderOf(file, (folder, name) => ({
    text: readRegular(folder, name, 4 * 1024 * 1024),
    isThere: isThere(folder, name),
  }))
  if (found?.text) return found.text.toString('utf8')
  throw found?.isThere
    ? new Error('it lies in the workspace and is a link or no regular file; put the file itself there')
    : Object.assign(new Error('there is no such file'), { code: 'ENOENT' })
}

/**
 * The agent's environment: what the run brings, what the settings pass on or fix, the way out, and what the adapter adds. Nothing is inherited. The way out comes after the
 * settings, so that none of them can lead elsewhere.
 */
export function withEnvironment(
  command: Command,
  parts: Pick<RunParts, 'path' | 'environment' | 'userEnvironment'>,
  added: EnvironmentParts,
): Command {
  const { task } = added.taken
  const places: Record<string, string> = added.places.length > 0 ? { PAWL_MOUNTS: added.places.join('\n') } : {}
  const ours = {
    PATH: parts.path,
    PAWL_DOOR_TOKEN: added.doorToken,
    ...added.ids,
    ...runApi(added),
    ...(added.models ? modelVariables(added.models, added) : {}),
    ...questionFileVariables(added.home),
    PAWL_ARTIFACTS: artifactFolder(added.home),
    ...places,
  }
  const settings = mergeEnvironments(added.profile.env, task.agent_config.env, parts.userEnvironment(task.user_name))
  const wayOut = added.isClosed ? proxyEnvironment() : {}
  const { withheld = [] } = added
  return {
    ...command,
    env: {
      ...ours,
      ...without({ ...parts.environment(settings.pass), ...settings.set }, withheld),
      ...added.secrets,
      ...wayOut,
      ...added.access,
      ...command.env,
    },
  }
}

const without = (variables: Record<string, string>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)))

/** For programs that nobody knows: where they find their model, as whom, and what it is called. */
const modelVariables = ({ url }: Pick<RunModels, 'url'>, { doorToken, taken }: EnvironmentParts): Record<string, string> => ({
  PAWL_MODEL_URL: url,
  PAWL_MODEL_KEY: doorToken,
  ...(taken.task.agent_config.model === undefined ? {} : { PAWL_MODEL: taken.task.agent_config.model }),
})

/** Where and as whom the run's own API is asked, under our names and under those of Claudomator, whose programs know of no token: theirs is in the address. */
function runApi({ doorToken, ids }: Pick<EnvironmentParts, 'doorToken' | 'ids'>): Record<string, string> {
  return {
    PAWL_API_URL: '{{PAWL_DOOR_URL}}',
    PAWL_API_TOKEN: doorToken,
    CLAUDOMATOR_API_URL: `{{PAWL_DOOR_URL}}/t/${doorToken}`,
    ...(ids.PAWL_TASK_ID === undefined ? {} : { CLAUDOMATOR_TASK_ID: ids.PAWL_TASK_ID }),
  }
}

export interface EnvironmentParts {
  /** Those that the profile names, by variable. They win over what the settings say of the same variable. */
  readonly secrets: Readonly<Record<string, string>>
  readonly taken: Pick<TakenRun, 'task'>
  readonly profile: Profile
  /** What there is beside the workspace, a line each. */
  readonly places: readonly string[]
  /** No network but the door. */
  readonly isClosed: boolean
  readonly doorToken: string
  /** The session home, as the agent sees it. */
  readonly home: string
  /** The ids of task and run, for programs that serve one run only. */
  readonly ids: Readonly<Record<string, string>>
  /** The key, where it is given in a variable. */
  readonly access: Readonly<Record<string, string>>
  /** Variables that hold keys which the program must not have. */
  readonly withheld?: readonly string[] | undefined
  readonly models?: Pick<RunModels, 'url'> | undefined
}

/** The program must be there before anything is started; its bare name becomes the path where it was found. */
export async function installed(command: Command, folder: string): Promise<Command> {
  const find = (named: string) => failingAs('binary_missing', () => findProgram(named, { path: command.env.PATH ?? '', folder }))
  const file = await find(command.file)
  for (const program of command.programs ?? []) await find(program)
  return command.file.includes('/') ? command : { ...command, file }
}
