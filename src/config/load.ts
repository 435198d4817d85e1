import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Preset } from '../agents/port.ts'
import type { McpServers } from '../domain/agent/mcp-server.ts'
import type { ModelSettings, ProviderSettings } from '../domain/agent/models.ts'
import { nearest } from '../domain/base/nearest.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import type { ElaborateSettings } from '../domain/draft/proposal.ts'
import { notFound, PawlError } from '../domain/error.ts'
import type { FileLimits } from '../domain/files/limits.ts'
import type { Price } from '../domain/money/prices.ts'
import type { WrittenNotification } from '../domain/notification/notification.ts'
import type { MountBase, ProfileMount } from '../domain/profile/profile.ts'
import type { Environment, UserProfiles } from '../domain/profile/resolve.ts'
import type { QuestionSettings } from '../domain/question/settings.ts'
import type { GuardrailSettings } from '../domain/run/guardrails.ts'
import { type A2ASettings, a2aOf } from './a2a-entry.ts'
import { type BackupSettings, backupOf } from './backup-entry.ts'
import { parse, readDocument, type SettingsDocument } from './document.ts'
import { elaborateOf } from './elaborate-entry.ts'
import { type Env, type Failpoint, readEnvironment, variables } from './environment.ts'
import { filesOf } from './files-entry.ts'
import { guardProject } from './guard.ts'
import { guardrailsOf } from './guardrails-entry.ts'
import type { ConfigAdapter } from './json-schema.ts'
import { checkDocument, type Layer, mergeLayers, writtenPath } from './layers.ts'
import { mcpServersOf } from './mcp-server-entry.ts'
import { providersOf } from './models-entry.ts'
import { isMolecule, readMolecule } from './molecule.ts'
import { pricesOf } from './money-entry.ts'
import { mountBases, userMounts } from './mount-entry.ts'
import { notificationsOf } from './notification-entry.ts'
import { absolute, findProjectFile, openHome, shortName } from './places.ts'
import { formatPath, type Problem, refuse } from './problems.ts'
import { type PushSettings, pushOf } from './push-entry.ts'
import { questionsOf } from './questions-entry.ts'
import { type RecordingSettings, recordingsOf } from './recordings-entry.ts'
import { builtinLayer, type ConfiguredAgent, type Resolution, resolveLayers } from './resolve.ts'
import { type SettledSchedule, schedulesOf } from './schedule-entry.ts'
import { FileSettings } from './schema.ts'
import { settingsBelow } from './show.ts'
import { hashOf, isTrusted } from './trust.ts'

export interface ConfigOptions {
  /** Where the project's file is looked for, upward; the process's own folder if left out. */
  readonly cwd?: string | undefined
  readonly env: Env
  readonly adapters: readonly ConfigAdapter[]
  /** Programs that are known by data alone; none if left out. */
  readonly presets?: readonly Preset[] | undefined
  readonly flags?: ConfigFlags | undefined
  /** Which files are read: both, only the home's, or neither. Both if left out. */
  readonly files?: 'all' | 'home' | 'none' | undefined
  /** Taken for the home's file instead of what lies there. */
  readonly homeBytes?: Uint8Array | undefined
}

/** What was said on the command line; wins over everything. */
export interface ConfigFlags {
  readonly home?: string | undefined
  /** The file to read instead of the project's. */
  readonly config?: string | undefined
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly databaseUrl?: string | undefined
  /** Trust the project's file for this one call. */
  readonly trust?: boolean | undefined
}

/** Every setting decided. Frozen to its depth. */
export interface Config {
  readonly home: string
  readonly files: { readonly project?: string | undefined; readonly home?: string | undefined }
  /** In the order in which a default is sought: the project's, the home's, the built-in ones. */
  readonly agents: readonly ConfiguredAgent[]
  readonly defaultAgent?: string | undefined
  readonly limits: {
    readonly running: number
    readonly perAgent: Readonly<Record<string, number>>
    readonly maxQueued: number
    readonly warm: number
    readonly usageWindows: number
  }
  /** `attempts` counts the first try too. */
  readonly retry: { readonly attempts: number; readonly baseDelayMs: number; readonly maxDelayMs: number }
  /** `null` is no limit. */
  readonly timeouts: {
    readonly totalMs: number | null
    readonly idleMs: number | null
    readonly graceMs: number
    readonly warmMs: number
  }
  /** Your own profiles, as they are written; `resolveProfile` makes them whole. */
  readonly profiles: UserProfiles
  /** Variables of every run, and those of single users, which win over all others. */
  readonly env: Environment
  readonly users: Readonly<Record<string, { readonly env: Environment; readonly mounts: readonly ProfileMount[] }>>
  /** Folders that tasks may name. */
  readonly mounts: Readonly<Record<string, MountBase>>
  /** What models cost, by pattern, where the settings say so. */
  readonly prices: Readonly<Record<string, Price>>
  /** What everything together may cost; what is missing has no cap. */
  readonly budget: {
    readonly day?: number | undefined
    readonly month?: number | undefined
    readonly userDay?: number | undefined
    readonly timeZone: string
  }
  readonly guardrails: GuardrailSettings
  readonly recordings: RecordingSettings
  readonly fileLimits: FileLimits
  readonly backup: BackupSettings
  readonly a2a: A2ASettings
  readonly push: PushSettings
  /** Who makes tasks of people’s words, if anybody does. */
  readonly elaborate?: ElaborateSettings | undefined
  /** Whom to tell of what becomes of tasks. */
  readonly notifications: readonly WrittenNotification[]
  /** Tasks that come again. */
  readonly schedules: readonly SettledSchedule[]
  /** What holds for questions of agents where their task says nothing. */
  readonly questions: QuestionSettings
  /** Where the key that seals the secrets is kept. */
  readonly secrets: NonNullable<FileSettings['secrets']>
  /** The user's servers of tools. */
  readonly mcpServers: McpServers
  /** Agents whose settings say which of them they have: nobody brings them others. */
  readonly agentsWithChosenServers: readonly string[]
  /** Where models are served, and which. */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly models: Readonly<Record<string, ModelSettings>>
  /** `allowedHosts`: names, with port, under which others reach a daemon that listens beyond loopback. */
  readonly server: {
    readonly host: string
    readonly port: number
    readonly allowedHosts: readonly string[]
    /** In and below these, users who are no admins may have agents work. */
    readonly workspaces: readonly string[]
    /** Paths of PEM files. */
    readonly tls: { readonly cert: string; readonly key: string } | null
  }
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'auto' | 'json' | 'text' }
  readonly database: { readonly url?: string | undefined }
  readonly noColor: boolean
  readonly failpoints: readonly Failpoint[]
  /** What the project's file says that does not count, because nobody has trusted it as it stands. */
  readonly untrusted?: Untrusted | undefined
  /** What of the files does nothing, or should be written otherwise: sentences for whoever checks them. */
  readonly notes: readonly string[]
  /** Reads the same settings anew, with these bytes for the home's file if they are given. */
  readonly again: (homeBytes?: Uint8Array) => Promise<Config>
  /** Path of a setting → `default`, `file:line`, `env NAME` or `flag --name`. */
  readonly sources: Readonly<Record<string, string>>
}

export interface Untrusted {
  readonly file: string
  readonly hash: string
  readonly keys: readonly string[]
  /** What those keys say, secrets masked. */
  readonly values: readonly { readonly path: string; readonly value: unknown }[]
  /** Agents that would be there if the file were trusted. */
  readonly agents: readonly string[]
}

/** Reads all settings. Makes the home on first use. Refuses with every problem at once, each with its place. */
export async function loadConfig(options: ConfigOptions): Promise<Config> {
  const cwd = resolve(options.cwd ?? process.cwd())
  const { env } = options
  const flags = options.flags ?? {}
  const userHome = env.HOME
  const home = absolute(flags.home || env.PAWL_HOME || '~/.pawl', cwd, userHome)
  await openHome(home)

  const said = readEnvironment(env)
  const problems: Problem[] = [...said.problems]
  const programs = { adapters: options.adapters, presets: options.presets ?? [] }
  const notes: string[] = []
  const read = async (file: string, kind: 'home' | 'project') => {
    const { homeBytes } = options
    const found = kind === 'home' && homeBytes ? parse(file, homeBytes) : await readDocument(file)
    if (!found) return undefined
    const molecule = isMolecule(found) ? readMolecule(found, { programs, env, home }) : undefined
    notes.push(...(molecule?.notes ?? []))
    const document = molecule?.document ?? found
    const checked = checkDocument(document, userHome)
    problems.push(...checked.problems)
    return fileLayer(kind, checked.settings, document, cwd)
  }
  const { files = 'all' } = options
  const named = flags.config || env.PAWL_CONFIG
  const projectFile = files !== 'all' ? undefined : named ? namedFile(absolute(named, cwd, userHome)) : await findProjectFile(cwd)
  const homeLayer = files === 'none' ? undefined : await read(join(home, 'config.yaml'), 'home')
  const project = projectFile === undefined ? undefined : await read(projectFile, 'project')

  const lower = [builtinLayer(programs.adapters, programs.presets), ...(homeLayer ? [homeLayer] : [])]
  const upper = [environmentLayer(said.settings), flagLayer(flags, problems)]
  // Checked as if it counted in full, so that a mistake shows before somebody is asked to trust it.
  let resolution = resolveLayers([...lower, ...(project ? [project] : []), ...upper], programs)
  problems.push(...resolution.problems)
  const shortly = (file: string) => shortName(file, cwd)
  if (problems.length > 0) refuse(problems, shortly)

  let untrusted: Untrusted | undefined
  if (project && !said.trust && !flags.trust) {
    const { file, bytes } = project.document
    const { counted, withheld } = guardProject(project.settings, mergeLayers(lower).settings)
    if (withheld.length > 0 && !(await isTrusted(home, file, bytes))) {
      const agents = withheld.filter((path) => path.length === 2 && path[0] === 'agents').map((path) => String(path[1]))
      untrusted = {
        file,
        hash: hashOf(bytes),
        keys: withheld.map((path) => formatPath(writtenPath(path, project.document))),
        values: withheld
          .flatMap((path) =>
            settingsBelow(
              path,
              path.reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], project.settings),
            ),
          )
          .map(({ path, value }) => ({ path: formatPath(writtenPath(path, project.document)), value })),
        agents,
      }
      resolution = resolveLayers([...lower, { ...project, settings: counted }, ...upper], programs, agents)
      if (resolution.problems.length > 0) refuse(resolution.problems, shortly)
    }
  }
  const sources = { home: flags.home ? 'flag --home' : env.PAWL_HOME ? 'env PAWL_HOME' : 'default', ...resolution.sources }
  return freeze({
    home,
    files: { project: project?.document.file, home: homeLayer?.document.file },
    ...plainSettings(resolution),
    backup: backupOf(resolution.settings.backup, home),
    noColor: said.noColor,
    failpoints: said.failpoints,
    untrusted,
    notes,
    sources,
    again: (homeBytes?: Uint8Array) => loadConfig({ ...options, homeBytes }),
  })
}

function namedFile(file: string): string {
  if (existsSync(file)) return file
  throw new PawlError('invalid', `There is no settings file ${file}; correct --config or PAWL_CONFIG.`)
}

/** The agent of that name, or a refusal that says which there are, or why it does not count and what to do. */
export function findAgent(config: Config, name: string): ConfiguredAgent {
  const agent = config.agents.find((candidate) => candidate.name === name)
  if (agent) return agent
  if (config.untrusted?.agents.includes(name)) {
    const { file } = config.untrusted
    throw new PawlError(
      'denied',
      `Agent "${name}" is defined in ${file}, which is not trusted as it stands; read that file, then run "pawl trust" (scripts: --trust or PAWL_TRUST=1).`,
    )
  }
  const names = config.agents.map((candidate) => candidate.name)
  const there = names.length > 0 ? ` (there are ${names.join(', ')})` : ''
  const meant = nearest(name, names)
  const how =
    meant === undefined ? 'name a command of your own under "agents:" ("pawl init" shows how).' : `did you mean "${meant}"?`
  throw notFound(`There is no agent "${name}"${there}; ${how}`)
}

function fileLayer(kind: 'home' | 'project', settings: FileSettings, document: SettingsDocument, cwd: string) {
  return {
    kind,
    settings,
    document,
    sourceOf: (path) => `${shortName(document.file, cwd)}:${document.placeOf(writtenPath(path, document)).line}`,
  } satisfies Layer
}

function environmentLayer(settings: FileSettings): Layer {
  const nameOf = new Map(Object.entries(variables).map(([name, path]) => [path.join('.'), name]))
  return { kind: 'override', settings, sourceOf: (path) => `env ${nameOf.get(path.join('.')) ?? 'PAWL_*'}` }
}

function flagLayer(flags: ConfigFlags, problems: Problem[]): Layer {
  const check = (name: string, wanted: string, settings: FileSettings): FileSettings => {
    if (FileSettings.safeParse(settings).success) return settings
    problems.push({ path: [], sentence: () => `--${name} must be ${wanted}.` })
    return {}
  }
  const port = flags.port === undefined ? {} : check('port', 'a port between 0 and 65535', { server: { port: flags.port } })
  const host = flags.host === undefined ? {} : check('host', 'a host name or address', { server: { host: flags.host } })
  const database =
    flags.databaseUrl === undefined ? {} : check('database-url', 'a postgres:// URL', { database: { url: flags.databaseUrl } })
  return {
    kind: 'override',
    settings: { ...database, ...(port.server || host.server ? { server: { ...port.server, ...host.server } } : {}) },
    sourceOf: ([block, key]) => `flag --${block === 'server' ? key : 'database-url'}`,
  }
}

function plainSettings({ settings, agents, profiles, ground }: Resolution) {
  const users = Object.entries(settings.users ?? {}).map(
    ([name, entry]) => [name, { env: entry.env ?? noVariables, mounts: userMounts(entry) }] as const,
  )
  return {
    agents,
    profiles,
    env: ground.env ?? noVariables,
    users: Object.fromEntries(users),
    mounts: mountBases(settings.mounts),
    defaultAgent: settings.defaultAgent ?? undefined,
    limits: settings.limits,
    retry: { attempts: settings.retry.attempts, baseDelayMs: settings.retry.baseDelay, maxDelayMs: settings.retry.maxDelay },
    timeouts: {
      totalMs: settings.timeouts.total,
      idleMs: settings.timeouts.idle,
      graceMs: settings.timeouts.grace,
      warmMs: settings.timeouts.warm,
    },
    mcpServers: mcpServersOf(settings.mcpServers),
    agentsWithChosenServers: Object.entries(settings.agents ?? {}).flatMap(([name, { mcpServers }]) =>
      mcpServers === undefined || mcpServers.includes('*') ? [] : [name],
    ),
    providers: providersOf(settings.providers),
    models: settings.models ?? {},
    server: settings.server,
    secrets: settings.secrets ?? {},
    questions: questionsOf(settings.questions),
    schedules: schedulesOf(settings.schedules),
    notifications: notificationsOf(settings.notifications),
    prices: pricesOf(settings.prices),
    budget: { ...settings.budget, timeZone: settings.budget?.timeZone ?? 'UTC' },
    guardrails: guardrailsOf(settings.guardrails),
    a2a: a2aOf(settings.a2a),
    push: pushOf(settings.push),
    elaborate: elaborateOf(settings.elaborate),
    recordings: recordingsOf(settings.recordings),
    fileLimits: filesOf(settings.files),
    log: settings.log,
    database: settings.database ?? {},
  }
}

const noVariables: Environment = { pass: [], set: {} }

function freeze<T>(value: T): T {
  if (isObjectOrArray(value) && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) freeze(part)
  }
  return value
}
