import { isObject } from '../domain/base/object.ts'
import { sayWhen } from '../domain/schedule/words.ts'
import { shownBackup } from './backup-entry.ts'
import { shownChecks } from './checks-entry.ts'
import type { Config } from './config.ts'
import { formatDuration } from './duration.ts'
import { shownElaborate } from './elaborate-entry.ts'
import { formatPath, type Path } from './problems.ts'
import { shownQuestions } from './questions-entry.ts'

export interface ConfigRow {
  readonly path: string
  readonly value: unknown
  readonly source: string
}

const masked = '***'

/** The settings at and below a path, one per leaf, secrets masked. */
export function settingsBelow(path: Path, value: unknown, shown = mask): { path: Path; value: unknown }[] {
  if (value === undefined) return []
  if (!isObject(value)) return [{ path, value: shown(path, value) }]
  return Object.entries(value).flatMap(([key, part]) => settingsBelow([...path, key], part, shown))
}

/** What is in force and from where, one row per setting, secrets masked. */
export function showConfig(config: Config, shown = mask): ConfigRow[] {
  const rows: ConfigRow[] = []
  const add = (path: Path, value: unknown) => {
    for (const leaf of settingsBelow(path, value, shown))
      rows.push({ path: formatPath(leaf.path), value: leaf.value, source: sourceOf(leaf.path, config) })
  }
  add(['home'], config.home)
  add(['defaultAgent'], config.defaultAgent)
  for (const {
    name,
    source: _,
    rights: __,
    models: ___,
    checks,
    mcpServers,
    timeoutMs,
    idleTimeoutMs,
    graceMs,
    retry,
    ...agent
  } of config.agents)
    add(['agents', name], {
      ...agent,
      checks: shownChecks(checks),
      mcpServers: shownServers(mcpServers ?? {}, config),
      timeout: limit(timeoutMs),
      idleTimeout: limit(idleTimeoutMs),
      grace: formatDuration(graceMs),
      retries: retry.attempts - 1,
    })
  add(['limits'], config.limits)
  add(['retry'], {
    attempts: config.retry.attempts,
    baseDelay: formatDuration(config.retry.baseDelayMs),
    maxDelay: formatDuration(config.retry.maxDelayMs),
  })
  add(['timeouts'], {
    total: limit(config.timeouts.totalMs),
    idle: limit(config.timeouts.idleMs),
    grace: formatDuration(config.timeouts.graceMs),
    warm: formatDuration(config.timeouts.warmMs),
  })
  add(['questions'], shownQuestions(config.questions))
  for (const { name, when, ...schedule } of config.schedules) add(['schedules', name], { when: sayWhen(when), ...schedule })
  add(['prices'], config.prices)
  add(['budget'], config.budget)
  add(['guardrails'], config.guardrails)
  add(['recordings'], config.recordings)
  add(['files'], config.fileLimits)
  add(['backup'], shownBackup(config.backup))
  add(['a2a'], config.a2a)
  add(['push'], config.push)
  add(['elaborate'], shownElaborate(config.elaborate))
  add(['profiles'], config.profiles)
  for (const { name, way, ...notification } of config.notifications)
    add(['notifications', name], { ...notification, ...wayOf(way) })
  add(['env'], config.env)
  for (const [name, { env, mounts }] of Object.entries(config.users))
    add(['users', name], { env, mounts: mounts.length > 0 ? mounts : undefined })
  add(['mounts'], config.mounts)
  for (const [name, { startTimeoutMs, timeoutMs, ...server }] of Object.entries(config.mcpServers))
    add(['mcpServers', name], { ...server, startTimeout: formatDuration(startTimeoutMs), timeout: formatDuration(timeoutMs) })
  for (const block of ['secrets', 'providers', 'models', 'server', 'log', 'database'] as const) add([block], config[block])
  return rows
}

/** The paths of what is not the same in both, secrets among them: only what they are is not to be seen. */
export function changedPaths(before: Config, after: Config): string[] {
  const bare = (config: Config) =>
    new Map(showConfig(config, (_, value) => value).map(({ path, value }) => [path, JSON.stringify(value)]))
  const [one, other] = [bare(before), bare(after)]
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path))
}

function wayOf(way: Config['notifications'][number]['way']): Record<string, unknown> {
  if (way.kind === 'webhook') return { webhook: { url: way.url, secret: way.secret, allowPrivate: way.allowPrivate } }
  return { [way.diff ? 'onDone' : 'command']: { run: way.run, timeout: formatDuration(way.timeoutMs), env: way.env } }
}

/** Said only of an agent that has not all of them. */
const shownServers = (own: object, { mcpServers }: Config) =>
  Object.keys(own).length === Object.keys(mcpServers).length ? undefined : Object.keys(own)

const limit = (ms: number | null) => (ms === null ? 'none' : formatDuration(ms))

/** Who decided it; a part of something that was set as one has the source of the whole. */
function sourceOf(path: Path, config: Config): string {
  // An agent and its options have a source too, but what they leave out is nobody's word but the default.
  const shortest = path[0] !== 'agents' ? 1 : path[2] === 'options' ? 4 : 3
  for (let length = path.length; length >= shortest; length--) {
    const source = config.sources[formatPath(path.slice(0, length))]
    if (source !== undefined) return source
  }
  return 'default'
}

/** `apiKey`, `auth_token`, `--password`; not `monkey`. */
const namesSecret = (name: string) =>
  /(^|[^a-z])(api)?(key|token|secret|password|passwd|credential)s?$/.test(
    name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase(),
  )

function mask(path: Path, value: unknown): unknown {
  const steps = path.filter((step) => typeof step === 'string')
  // A provider's key is only ever the name of where the key is kept.
  if (steps[0] === 'providers' && steps[2] === 'key') return value
  // What names a secret holds none.
  if (steps[0] === 'mcpServers' && typeof value === 'string' && value.includes('${')) return value
  if (steps[steps.indexOf('env') + 1] === 'set' && steps.includes('env')) return masked
  // Whoever knows the address of a receiver may speak to it; a person who decides needs its host.
  if (steps[0] === 'notifications' && steps.at(-1) === 'url') return maskPath(String(value))
  if (steps[0] === 'notifications' && steps[3] === 'secret') return value
  // Whoever trusts a file must see what it runs.
  if (steps[0] === 'checks' || (steps[0] === 'agents' && steps[2] === 'checks')) return value
  // Names and places, which whoever trusts a file must see.
  if (steps[0] === 'profiles' && ['mounts', 'secrets', 'trust', 'trusted', 'ssh'].includes(steps[2] ?? '')) return value
  if (steps[0] === 'mounts' || (steps[0] === 'users' && steps[2] === 'mounts')) return value
  // Names of variables, and paths into what a program prints.
  if (steps[0] === 'agents' && steps[2] === 'options' && ['keys', 'map'].includes(steps[3] ?? '')) return value
  // A number (maxTokens) is a limit, not a secret; and an agent may be called "token".
  if (typeof value === 'number') return value
  if (steps.slice(steps[0] === 'agents' ? 2 : 1).some(namesSecret)) return masked
  if (Array.isArray(value)) return maskItems(value)
  return typeof value === 'string' ? maskUrl(value) : value
}

/** `--api-key x`, `--token=x` */
function maskItems(items: readonly unknown[]): unknown[] {
  return items.map((item, index) => {
    const before = items[index - 1]
    if (typeof before === 'string' && /^-/.test(before) && !before.includes('=') && namesSecret(before)) return masked
    if (typeof item !== 'string') return isObject(item) || Array.isArray(item) ? masked : item
    const split = /^(-[^=]*)=/.exec(item)
    return split && namesSecret(split[1]!) ? `${split[1]}=${masked}` : maskUrl(item)
  })
}

const maskPath = (text: string) => {
  const url = URL.parse(text)
  return url && url.href !== `${url.origin}/` ? `${url.origin}/${masked}` : text
}

const maskUrl = (text: string) =>
  text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/]*(?=@)/gi, `$1${masked}`)
    .replace(/([?&][^=&\s]*(?:key|token|secret|password)=)[^&\s#]*/gi, `$1${masked}`)
