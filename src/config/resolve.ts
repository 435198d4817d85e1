import type { Preset } from '../agents/port.ts'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import { chosenServers } from '../domain/agent/mcp-server.ts'
import { modelNames } from '../domain/agent/models.ts'
import { didYouMean } from '../domain/base/nearest.ts'
import { PawlError } from '../domain/error.ts'
import { type Profile, profileNames } from '../domain/profile/profile.ts'
import { defaultProfile, type Ground, resolveProfile, rightsNamed, type UserProfiles } from '../domain/profile/resolve.ts'
import { checksOf } from './checks-entry.ts'
import { type ConfigAdapter, knownKeys } from './json-schema.ts'
import { type AgentEntry, type Layer, locate, type Merged, mergeLayers, type Origin } from './layers.ts'
import { mcpServersOf } from './mcp-server-entry.ts'
import { modelTable } from './models-entry.ts'
import { fillIn, presetKeys } from './preset-entry.ts'
import { faultsOf, formatPath, type Path, type Problem, type Report } from './problems.ts'
import { profileSettings } from './profile-settings.ts'
import { agentShape, type Decided, defaultBudget, defaults, type FileSettings } from './schema.ts'

export type AgentSource = 'project' | 'home' | 'builtin'

/** An agent that can be asked for by name, and the place that brought it. */
export interface ConfiguredAgent extends ResolvedAgent {
  readonly source: AgentSource
}

/** All settings decided, each with its unit in place. */
export interface Resolution {
  readonly settings: Decided
  readonly agents: readonly ConfiguredAgent[]
  readonly profiles: UserProfiles
  readonly ground: Ground
  /** Path as `formatPath` writes it → where it was decided. */
  readonly sources: Readonly<Record<string, string>>
  readonly problems: readonly Problem[]
}

/** The programs that an agent can be. */
export interface Programs {
  readonly adapters: readonly ConfigAdapter[]
  readonly presets: readonly Preset[]
}

/** The lowest layer: defaults, and the agents that need no configuration. */
export function builtinLayer(adapters: readonly ConfigAdapter[], presets: readonly Preset[]): Layer {
  const agents: Record<string, AgentEntry> = {}
  for (const { name, builtin } of adapters)
    if (builtin) agents[builtin.name] = { adapter: name, options: { ...(builtin.options as Record<string, unknown>) } }
  for (const { name } of presets) agents[name] = { preset: name }
  return { kind: 'builtin', settings: { ...structuredClone(defaults), agents }, sourceOf: () => 'default' }
}

/** Decides every setting from the layers. `alsoKnown` names agents that exist but do not count. */
export function resolveLayers(
  layers: readonly Layer[],
  { adapters, presets }: Programs,
  alsoKnown: readonly string[] = [],
): Resolution {
  const merged = mergeLayers(layers)
  // The lowest layer holds all defaults, so they are there whatever else was said.
  const settings = merged.settings as Resolution['settings']
  const problems: Problem[] = []
  const report: Report = (path, sentence) =>
    void problems.push(locate({ path, sentence }, path, originOf(path, merged)?.layer.document))
  const sources: Record<string, string> = {}
  for (const [path, origin] of merged.origins) sources[path] = origin.layer.sourceOf(origin.path)

  const { profiles, ground } = profilesOf(settings)
  const sound = checkProfiles(profiles, report)
  const order = agentOrder(layers)
  const agents: ConfiguredAgent[] = []
  for (const [name, source] of order) {
    const written = settings.agents?.[name]
    const entry = written && fillIn(name, written, { adapters, presets, report })
    const agent = entry && resolveAgent(name, entry, settings, { adapters, report })
    if (!agent) continue
    for (const key of presetKeys(written, presets)) sources[formatPath(['agents', name, ...key])] ??= `preset ${written?.preset}`
    const { profile } = agent
    // Copied, so that a daemon of another folder has it too.
    const rights = sound.includes(profile) ? rightsNamed(profile, profiles, ground) : undefined
    if (rights) refuseSkills(agent, rights, { adapters, report })
    agents.push({ ...agent, ...(rights ? { rights } : {}), source })
    for (const [own, inherited] of inheritance)
      sources[formatPath(['agents', name, ...own])] ??= (inherited && sources[inherited]) ?? 'default'
  }
  checkReferences(settings, [...order.keys(), ...alsoKnown], report)
  return { settings, agents, profiles, ground, sources, problems }
}

/** The profiles that the settings bring, and what lies under all of them. */
export function profilesOf({ profiles, env }: Pick<FileSettings, 'profiles' | 'env'>): {
  profiles: UserProfiles
  ground: Ground
} {
  const users = Object.fromEntries(Object.entries(profiles ?? {}).map(([name, entry]) => [name, profileSettings(entry)]))
  return { profiles: users, ground: env ? { env } : {} }
}

/** The names of those that can be resolved; the others are reported where they stand. */
function checkProfiles(profiles: UserProfiles, report: Report): string[] {
  const own = Object.keys(profiles).filter((name) => {
    try {
      resolveProfile(name, profiles)
      return true
    } catch (error) {
      if (!(error instanceof PawlError)) throw error
      report(['profiles', name], (where, shown) => `${formatPath(shown)} in ${where}: ${error.message}`)
      return false
    }
  })
  return [...profileNames, ...own]
}

/** What an agent takes from elsewhere when it does not say it itself. */
const inheritance: readonly (readonly [own: Path, inherited?: string])[] = [
  [['profile']],
  [['budget', 'usd']],
  [['checks'], 'checks'],
  [['timeout'], 'timeouts.total'],
  [['idleTimeout'], 'timeouts.idle'],
  [['grace'], 'timeouts.grace'],
  [['retries'], 'retry.attempts'],
]

/** The project's agents first, then those of the home, then the built-in ones nobody has spoken about. */
function agentOrder(layers: readonly Layer[]): Map<string, AgentSource> {
  const order = new Map<string, AgentSource>()
  for (const layer of layers.toReversed())
    if (layer.kind !== 'override')
      for (const name of Object.keys(layer.settings.agents ?? {})) if (!order.has(name)) order.set(name, layer.kind)
  return order
}

function resolveAgent(
  name: string,
  entry: AgentEntry,
  settings: Resolution['settings'],
  { adapters, report }: { adapters: readonly ConfigAdapter[]; report: Report },
): ResolvedAgent | undefined {
  const names = adapters.map((adapter) => adapter.name)
  const adapter = adapters.find((candidate) => candidate.name === entry.adapter)
  if (!adapter) {
    const wanted = entry.adapter
    if (wanted === undefined)
      report(
        ['agents', name],
        (where, shown) => `${formatPath(shown)} in ${where} needs an "adapter": one of ${names.join(', ')}.`,
      )
    else
      report(['agents', name, 'adapter'], (where, shown) => {
        const known = `there is no adapter "${wanted}" (there are ${names.join(', ')})`
        return `${formatPath(shown)} in ${where}: ${known}${didYouMean(wanted, names)}`
      })
    return undefined
  }
  const written = entry.options ?? {}
  const parsed = adapter.options.safeParse(written)
  if (!parsed.success) {
    const optionKeys = knownKeys(adapter.options, [])
    const known = (shown: Path) =>
      shown.length === 3
        ? [...Object.keys(agentShape), ...optionKeys]
        : knownKeys(adapter.options, shown.slice(shown[2] === 'options' ? 3 : 2, -1))
    for (const fault of faultsOf(parsed.error.issues, written, known))
      report(['agents', name, 'options', ...fault.path], fault.sentence)
    return undefined
  }
  refuseUntaken(name, entry, adapter.suited?.(parsed.data) ?? adapter, report)
  const { total, idle, grace } = settings.timeouts
  return {
    name,
    adapter: adapter.name,
    ...present({
      preset: entry.preset,
      model: entry.model,
      baseUrl: entry.baseUrl,
      models: adapter.models && modelTable(settings),
      fallbackModels: entry.fallbackModels,
      allowedModels: entry.models,
      gateway: entry.gateway,
      auth: entry.auth,
      systemPrompt: entry.systemPrompt,
      systemPromptFile: entry.systemPromptFile,
      role: entry.role,
      checks: checksOf(entry.checks ?? settings.checks),
      record: entry.record,
      mcpServers: someServers(chosenServers(mcpServersOf(settings.mcpServers), entry.mcpServers)),
    }),
    profile: entry.profile ?? defaultProfile,
    // Stored with each task, so it is what JSON makes of it from the start.
    options: JSON.parse(JSON.stringify(parsed.data)) as Record<string, unknown>,
    env: entry.env ?? { pass: [], set: {} },
    budget: { ...defaultBudget, ...entry.budget },
    timeoutMs: entry.timeout === undefined ? total : entry.timeout,
    idleTimeoutMs: entry.idleTimeout === undefined ? idle : entry.idleTimeout,
    graceMs: grace,
    retry: {
      attempts: entry.retries === undefined ? settings.retry.attempts : entry.retries + 1,
      baseDelayMs: settings.retry.baseDelay,
      maxDelayMs: settings.retry.maxDelay,
    },
  }
}

/** Its runs would fail, or do without it unseen. */
function refuseUntaken(name: string, entry: AgentEntry, { can }: Pick<ConfigAdapter, 'can'>, report: Report): void {
  const refuse = (key: keyof AgentEntry, what: string, instead: string) => {
    if (entry[key] !== undefined)
      report(
        ['agents', name, key],
        (where, shown) =>
          `${formatPath(shown)}${where && ` in ${where}`} cannot be used: the agent takes no ${what}; ${instead}.`,
      )
  }
  const isCustom = entry.adapter === 'custom'
  if (can?.model === false)
    refuse('model', 'model', isCustom ? 'say how with modelFlag, modelArg or modelVariable, or leave it out' : 'leave it out')
  if (can?.systemPrompt === false)
    for (const key of ['systemPrompt', 'systemPromptFile', 'role'] as const)
      refuse(
        key,
        'system prompt',
        isCustom ? 'say how with systemPromptFlag or systemPromptVia, or leave it out' : 'leave it out',
      )
}

/** Each run would be refused for it. */
function refuseSkills(
  { name, adapter, profile, options }: ResolvedAgent,
  rights: Profile,
  { adapters, report }: { adapters: readonly ConfigAdapter[]; report: Report },
): void {
  const found = adapters.find((candidate) => candidate.name === adapter)
  const { can } = found?.suited?.(options) ?? found ?? {}
  for (const what of ['skills', 'subagents'] as const) {
    const named = rights[what].filter((one) => one !== '*')
    if (can?.[what] === false && named.length > 0)
      report(
        ['agents', name, 'profile'],
        (where, shown) =>
          `${formatPath(shown)}${where && ` in ${where}`} cannot be used: the agent can be given no ${what}, and profile "${profile}" names ${named.join(', ')}; take them out, or use an agent that can.`,
      )
  }
}

const someServers = <T extends object>(servers: T): T | undefined => (Object.keys(servers).length > 0 ? servers : undefined)

/** Names that must exist: a typo here would otherwise do nothing, silently. */
function checkReferences(settings: FileSettings, agents: readonly string[], report: Report): void {
  const missing = (path: Path, kind: string, wanted: string, known: readonly string[]) => {
    if (known.includes(wanted)) return
    report(
      path,
      (where, shown) =>
        `${formatPath(shown)}${where && ` in ${where}`} names ${kind} "${wanted}", which does not exist${didYouMean(wanted, known)}`,
    )
  }
  const servers = Object.keys(settings.mcpServers ?? {})
  for (const kind of ['agents', 'profiles'] as const)
    for (const [name, { mcpServers = [] }] of Object.entries(settings[kind] ?? {}))
      for (const [index, server] of (mcpServers ?? []).entries())
        if (server !== '*') missing([kind, name, 'mcpServers', index], 'a server of tools', server, servers)
  const profiles = [...profileNames, ...Object.keys(settings.profiles ?? {})]
  for (const [name, { profile }] of Object.entries(settings.agents ?? {}))
    if (profile !== undefined) missing(['agents', name, 'profile'], 'a profile', profile, profiles)
  if (settings.defaultAgent) missing(['defaultAgent'], 'an agent', settings.defaultAgent, agents)
  for (const name of Object.keys(settings.limits?.perAgent ?? {})) missing(['limits', 'perAgent', name], 'an agent', name, agents)
  for (const [name, { agents: only }] of Object.entries(settings.notifications ?? {}))
    for (const [index, agent] of (only ?? []).entries())
      missing(['notifications', name, 'agents', index], 'an agent', agent, agents)
  for (const [name, { agent }] of Object.entries(settings.schedules ?? {}))
    if (agent !== undefined) missing(['schedules', name, 'agent'], 'an agent', agent, agents)
  if (settings.elaborate) missing(['elaborate', 'agent'], 'an agent', settings.elaborate.agent, agents)
  const after = settings.questions?.afterDeadline
  if (typeof after === 'object' && 'escalate' in after && after.escalate.agent !== undefined)
    missing(['questions', 'afterDeadline', 'escalate', 'agent'], 'an agent', after.escalate.agent, agents)
  if (typeof after === 'object' && 'escalate' in after && after.escalate.webhook !== undefined)
    missing(
      ['questions', 'afterDeadline', 'escalate', 'webhook'],
      'a notification',
      after.escalate.webhook,
      Object.keys(settings.notifications ?? {}),
    )
  for (const [name, model] of Object.entries(settings.models ?? {}))
    missing(['models', name, 'provider'], 'a provider', model.provider, Object.keys(settings.providers ?? {}))
  checkAliases(settings, report)
  const models = modelNames({ models: settings.models ?? {} })
  for (const [name, entry] of Object.entries(settings.agents ?? {}))
    for (const key of ['fallbackModels', 'models'] as const)
      for (const [index, model] of (entry[key] ?? []).entries()) missing(['agents', name, key, index], 'a model', model, models)
}

/** A name that means two models would mean whichever is found first. */
function checkAliases({ models }: FileSettings, report: Report): void {
  const owners = new Map(Object.keys(models ?? {}).map((name) => [name, name]))
  for (const [name, { aliases = [] }] of Object.entries(models ?? {}))
    for (const [index, alias] of aliases.entries()) {
      const owner = owners.get(alias)
      owners.set(alias, owner ?? name)
      if (owner !== undefined)
        report(
          ['models', name, 'aliases', index],
          (where, shown) =>
            `${formatPath(shown)}${where && ` in ${where}`}: "${alias}" is already a name of the model "${owner}".`,
        )
    }
}

/** Who decided this path: exactly, or the nearest ancestor somebody spoke about. */
function originOf(path: Path, merged: Merged): Origin | undefined {
  for (let length = path.length; length > 0; length--) {
    const origin = merged.origins.get(formatPath(path.slice(0, length)))
    if (origin) return origin
  }
  return undefined
}

const present = <T extends Record<string, unknown>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
