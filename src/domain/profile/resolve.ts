import { didYouMean } from '../base/nearest.ts'
import { invalid } from '../error.ts'
import { builtinProfiles } from './builtin.ts'
import { type Profile, type ProfileLimits, type ProfileMount, type ProfileName, profileNames, type SshAccess } from './profile.ts'

/** A profile as somebody wrote it: what it leaves out is taken from the one it extends. */
export interface ProfileSettings {
  /** `guarded` if left out. */
  readonly extends?: string | undefined
  readonly walls?: boolean | undefined
  readonly rules?: (Partial<Profile['rules']> & { readonly otherwise?: Profile['otherwise'] | undefined }) | undefined
  readonly tools?: Partial<Profile['tools']> | undefined
  readonly mounts?: readonly ProfileMount[] | undefined
  readonly network?: Partial<Profile['network']> | undefined
  readonly env?: Environment | undefined
  readonly secrets?: Profile['secrets'] | undefined
  readonly limits?: { readonly [K in keyof ProfileLimits]?: number | undefined } | undefined
  readonly skills?: readonly string[] | undefined
  readonly subagents?: readonly string[] | undefined
  readonly mcpServers?: readonly string[] | undefined
  readonly instructions?: boolean | undefined
  readonly trusted?: Profile['trusted'] | undefined
  readonly nestedNamespaces?: boolean | undefined
  readonly ssh?: SshAccess | undefined
}

export type UserProfiles = Readonly<Record<string, ProfileSettings>>
/** Variables of an agent's program: names of Pawl's own that are passed on, and fixed values. */
export type Environment = Profile['env']

/** What is always there, under every profile. */
export interface Ground {
  /** The variables of every run. */
  readonly env?: Environment | undefined
}

export const defaultProfile: ProfileName = 'guarded'

/** The whole profile of that name. Refuses by name what does not exist, extends itself, or would be wider than its base may be. */
export function resolveProfile(name: string, users: UserProfiles = {}, ground: Ground = {}): Profile {
  const line = lineOf(name, users)
  const base = line.at(-1)!
  let profile: Profile = builtinProfiles[base as ProfileName]
  if (ground.env) profile = { ...profile, env: mergeEnvironments(ground.env, profile.env) }
  for (const step of line.slice(0, -1).reverse()) profile = extend(step, profile, users[step]!)
  return profile
}

/** The profile that is in force for an agent: the copy it carries, or the built-in one that it names. */
export const rightsOf = (agent: { readonly profile: string; readonly rights?: Profile | undefined }): Profile =>
  agent.rights ?? resolveProfile(agent.profile)

/** The copy that an agent with this profile carries: none for a built-in one as it is, which is the same everywhere. */
export function rightsNamed(name: string, users: UserProfiles = {}, ground: Ground = {}): Profile | undefined {
  const profile = resolveProfile(name, users, ground)
  const hasVariables = profile.env.pass.length > 0 || Object.keys(profile.env.set).length > 0
  return isBuiltin(name) && !hasVariables ? undefined : profile
}

export const isBuiltin = (name: string): name is ProfileName => profileNames.some((known) => known === name)

/** Later ones win, name by name: what is fixed by one is not passed on for another, and the other way round. */
export function mergeEnvironments(...layers: readonly (Environment | undefined)[]): Environment {
  const pass = new Set<string>()
  const set = new Map<string, string>()
  for (const layer of layers) {
    for (const name of layer?.pass ?? []) {
      set.delete(name)
      pass.add(name)
    }
    for (const [name, value] of Object.entries(layer?.set ?? {})) {
      pass.delete(name)
      set.set(name, value)
    }
  }
  return { pass: [...pass], set: Object.fromEntries(set) }
}

/** From the named profile down to the built-in one that it stands on. */
function lineOf(name: string, users: UserProfiles): string[] {
  const known = [...profileNames, ...Object.keys(users)]
  const line: string[] = []
  for (let at = name; ; ) {
    if (line.includes(at)) throw invalid(`Profile "${name}" extends itself: ${[...line, at].join(' → ')}.`)
    line.push(at)
    if (isBuiltin(at)) return line
    if (!Object.hasOwn(users, at)) {
      const whose =
        line.length > 1 ? `Profile "${line.at(-2)}" extends "${at}", which does not exist` : `There is no profile "${at}"`
      throw invalid(`${whose}${didYouMean(at, known)} Profiles are: ${known.join(', ')}.`)
    }
    at = users[at]!.extends ?? defaultProfile
  }
}

function extend(name: string, base: Profile, own: ProfileSettings): Profile {
  const walls = own.walls ?? base.walls
  if (!walls && base.walls)
    throw invalid(`Profile "${name}" cannot take the walls down: only one that extends unattended-open has none.`)
  const trusted = [...base.trusted, ...(own.trusted ?? [])]
  if (trusted.length > 0 && profileNames.indexOf(base.base) < profileNames.indexOf('trusted-repo'))
    throw invalid(`Profile "${name}" trusts repositories, so it must extend trusted-repo, not ${base.base}.`)
  const ssh = own.ssh ?? base.ssh
  const mcpServers = own.mcpServers ?? base.mcpServers
  return {
    name,
    base: base.base,
    walls,
    rules: lists(base.rules, own.rules),
    otherwise: own.rules?.otherwise ?? base.otherwise,
    tools: { native: own.tools?.native ?? base.tools.native, disabled: union(base.tools.disabled, own.tools?.disabled) },
    mounts: mergeMounts(name, base.mounts, own.mounts ?? []),
    network: lists(base.network, own.network),
    env: mergeEnvironments(base.env, own.env),
    secrets: mergeSecrets(name, base.secrets, own.secrets ?? []),
    limits: { ...base.limits, ...present(own.limits ?? {}) },
    // Chosen, not added: who names some wants no others.
    skills: own.skills ?? base.skills,
    subagents: own.subagents ?? base.subagents,
    instructions: own.instructions ?? base.instructions,
    trusted,
    nestedNamespaces: own.nestedNamespaces ?? base.nestedNamespaces,
    ...(ssh ? { ssh } : {}),
    ...(mcpServers ? { mcpServers } : {}),
  }
}

type Lists = Profile['rules']
const lists = (base: Lists, own: Partial<Lists> = {}): Lists => ({
  allow: union(base.allow, own.allow),
  ask: union(base.ask, own.ask),
  deny: union(base.deny, own.deny),
})

const union = (base: readonly string[], more: readonly string[] = []) => [...new Set([...base, ...more])]

/** One mount for each path inside: what a profile says itself replaces what it has from its base. What lies deeper comes later. */
function mergeMounts(name: string, base: readonly ProfileMount[], own: readonly ProfileMount[]): ProfileMount[] {
  const at = new Map(base.map((mount) => [mount.path, mount]))
  const said = new Set<string>()
  for (const mount of own) {
    if (said.has(mount.path)) throw invalid(`Profile "${name}" mounts ${mount.path} twice; keep one of the two.`)
    said.add(mount.path)
    at.set(mount.path, mount)
  }
  return [...at.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function mergeSecrets(name: string, base: Profile['secrets'], own: Profile['secrets']): Profile['secrets'] {
  const by = new Map(base.map((secret) => [secret.variable, secret]))
  const said = new Set<string>()
  for (const secret of own) {
    if (said.has(secret.variable)) throw invalid(`Profile "${name}" gives two secrets in the variable ${secret.variable}.`)
    said.add(secret.variable)
    by.set(secret.variable, secret)
  }
  return [...by.values()]
}

const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: NonNullable<T[K]> }
