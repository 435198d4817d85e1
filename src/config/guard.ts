import type { Profile } from '../domain/profile/profile.ts'
import { defaultProfile, isBuiltin, resolveProfile } from '../domain/profile/resolve.ts'
import { isNotWider } from '../domain/profile/width.ts'
import type { AgentEntry } from './layers.ts'
import type { Path } from './problems.ts'
import { profilesOf } from './resolve.ts'
import { defaultBudget, type FileSettings } from './schema.ts'

export interface Guarded {
  /** What a project may say without being trusted: choose among the agents that are there, and lower limits. */
  readonly counted: FileSettings
  /** Every other key: it runs something, points somewhere or widens rights. */
  readonly withheld: readonly Path[]
}

/** A repository cannot give itself rights: what is not known to be harmless does not count. `below` is what is in force without it. */
export function guardProject(project: FileSettings, below: FileSettings): Guarded {
  const withheld: Path[] = []
  const counted: Record<string, unknown> = {}
  const keepIf = (harmless: boolean, path: readonly string[], value: unknown) => {
    if (!harmless) return void withheld.push(path)
    let target = counted
    for (const step of path.slice(0, -1)) {
      target[step] ??= {}
      target = target[step] as Record<string, unknown>
    }
    target[path.at(-1)!] = value
  }

  for (const [block, value] of Object.entries(project)) {
    if (value === undefined || value === null) continue
    if (block === 'agents') {
      for (const [name, entry] of Object.entries(project.agents ?? {})) {
        const lower = below.agents?.[name]
        if (!lower) withheld.push(['agents', name])
        else guardAgent(name, entry, lower, below, keepIf)
      }
    } else if (block === 'defaultAgent') keepIf(mayChoose(value as string, below), [block], value)
    else if (block === 'limits')
      for (const [key, limit] of Object.entries(value)) {
        if (key !== 'perAgent') keepIf(isLower(limit, below.limits?.[key as 'running']), [block, key], limit)
        else
          for (const [agent, slots] of Object.entries(limit ?? {}))
            keepIf(isLower(slots, below.limits?.perAgent?.[agent]), [block, key, agent], slots)
      }
    else if (block === 'retry')
      for (const [key, limit] of Object.entries(value))
        keepIf(key === 'attempts' && isLower(limit, below.retry?.attempts), [block, key], limit)
    else if (block === 'timeouts')
      for (const [key, limit] of Object.entries(value))
        keepIf(isLower(limit, below.timeouts?.[key as 'total']), [block, key], limit)
    else if (block === 'checks') keepIf(false, [block], value)
    else for (const [key, part] of Object.entries(value)) keepIf(false, [block, key], part)
  }
  return { counted, withheld }
}

function guardAgent(
  name: string,
  entry: AgentEntry,
  lower: AgentEntry,
  below: FileSettings,
  keepIf: (harmless: boolean, path: readonly string[], value: unknown) => void,
): void {
  const harmless: Partial<Record<keyof AgentEntry, () => boolean>> = {
    model: () => true,
    adapter: () => entry.adapter === lower.adapter,
    preset: () => entry.preset === lower.preset,
    profile: () => isNarrower(entry.profile, [lower.profile], below),
    timeout: () => isLower(entry.timeout, lower.timeout === undefined ? below.timeouts?.total : lower.timeout),
    idleTimeout: () => isLower(entry.idleTimeout, lower.idleTimeout === undefined ? below.timeouts?.idle : lower.idleTimeout),
    mcpServers: () => isFewer(entry.mcpServers, lower.mcpServers ?? ['*']),
    retries: () => isLower(entry.retries, lower.retries ?? (below.retry?.attempts ?? 1) - 1),
  }
  // Another program under the same name: nothing it says is about the agent we know.
  const isOther = (key: 'adapter' | 'preset') => entry[key] !== undefined && entry[key] !== lower[key]
  if (isOther('adapter') || isOther('preset')) {
    keepIf(false, ['agents', name], entry)
    return
  }
  const caps = { ...defaultBudget, ...lower.budget }
  for (const [key, value] of Object.entries(entry)) {
    if (key === 'budget')
      for (const [part, cap] of Object.entries(entry.budget ?? {}))
        keepIf(isLower(cap, caps[part as keyof typeof caps]), ['agents', name, key, part], cap)
    else if (key === 'options')
      for (const [option, set] of Object.entries(entry.options ?? {})) keepIf(false, ['agents', name, key, option], set)
    else keepIf(harmless[key]?.() ?? false, ['agents', name, key], value)
  }
}

const isFewer = (wanted: readonly string[] = ['*'], inForce: readonly string[]) =>
  inForce.includes('*') || wanted.every((name) => inForce.includes(name))

/** Not wider: `null` is the explicit "none", and a limit nobody has set is none too. */
function isLower(wanted: unknown, inForce: number | null | undefined): boolean {
  return (typeof wanted === 'number' ? wanted : Number.POSITIVE_INFINITY) <= (inForce ?? Number.POSITIVE_INFINITY)
}

/** Choosing an agent with wider walls than one would get otherwise is widening, not choosing. An agent that is not there harms nobody. */
function mayChoose(name: string, below: FileSettings): boolean {
  const otherwise = below.agents?.[below.defaultAgent ?? '']?.profile
  return isNarrower(below.agents?.[name]?.profile, [otherwise, defaultProfile], below)
}

/** Not wider than one of those in force, as the settings without the project know them: a profile that only the project knows is none. */
function isNarrower(wanted: string | undefined, inForce: readonly (string | undefined)[], below: FileSettings): boolean {
  const { profiles, ground } = profilesOf(below)
  const named = (name: string = defaultProfile): Profile | undefined =>
    isBuiltin(name) || Object.hasOwn(profiles, name) ? resolveProfile(name, profiles, ground) : undefined
  const profile = named(wanted)
  return (
    profile !== undefined &&
    inForce.some((name) => {
      const other = named(name)
      return other !== undefined && isNotWider(profile, other)
    })
  )
}
