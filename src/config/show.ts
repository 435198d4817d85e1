import type { Config } from '../config.ts'
import { formatDuration } from './duration.ts'
import { formatPath, type Path } from './problems.ts'

export interface ConfigRow {
  readonly path: string
  readonly value: unknown
  readonly source: string
}

const masked = '***'

/** The settings at and below a path, one per leaf, secrets masked. */
export function settingsBelow(path: Path, value: unknown): { path: Path; value: unknown }[] {
  if (value === undefined) return []
  if (!isMap(value)) return [{ path, value: mask(path, value) }]
  return Object.entries(value).flatMap(([key, part]) => settingsBelow([...path, key], part))
}

/** What is in force and from where, one row per setting, secrets masked. */
export function showConfig(config: Config): ConfigRow[] {
  const rows: ConfigRow[] = []
  const add = (path: Path, value: unknown) => {
    for (const leaf of settingsBelow(path, value))
      rows.push({ path: formatPath(leaf.path), value: leaf.value, source: sourceOf(leaf.path, config) })
  }
  add(['home'], config.home)
  add(['defaultAgent'], config.defaultAgent)
  for (const { name, source: _, rights: __, timeoutMs, idleTimeoutMs, graceMs, retry, ...agent } of config.agents)
    add(['agents', name], {
      ...agent,
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
  add(['profiles'], config.profiles)
  add(['env'], config.env)
  add(['users'], config.users)
  for (const block of ['secrets', 'providers', 'models', 'server', 'log', 'database'] as const) add([block], config[block])
  return rows
}

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
  if (steps[steps.indexOf('env') + 1] === 'set' && steps.includes('env')) return masked
  // Names and places, which whoever trusts a file must see.
  if (steps[0] === 'profiles' && ['mounts', 'secrets', 'trust', 'trusted', 'ssh'].includes(steps[2] ?? '')) return value
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
    if (typeof item !== 'string') return isMap(item) || Array.isArray(item) ? masked : item
    const split = /^(-[^=]*)=/.exec(item)
    return split && namesSecret(split[1]!) ? `${split[1]}=${masked}` : maskUrl(item)
  })
}

const maskUrl = (text: string) =>
  text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/]*(?=@)/gi, `$1${masked}`)
    .replace(/([?&][^=&\s]*(?:key|token|secret|password)=)[^&\s#]*/gi, `$1${masked}`)

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
