import { canonicalJson } from '../base/canonical-json.ts'
import { type Profile, type ProfileLimits, type ProfileMount, profileNames } from './profile.ts'

/**
 * True if whoever has `wanted` may do nothing that `inForce` forbids, setting by setting. Patterns are compared as they are written: a pattern that is narrower in
 * effect but not the same text counts as wider, which is safe.
 */
export function isNotWider(wanted: Profile, inForce: Profile): boolean {
  return Object.values(checks).every((isNarrow) => isNarrow(wanted, inForce))
}

/** The settings in which `wanted` is wider, for a sentence that says why it does not count. */
export function widerIn(wanted: Profile, inForce: Profile): string[] {
  return Object.entries(checks).flatMap(([setting, isNarrow]) => (isNarrow(wanted, inForce) ? [] : [setting]))
}

type Check = (wanted: Profile, inForce: Profile) => boolean

/** Every setting of a profile but its name: a new one does not compile until it is compared here. */
const checks = {
  base: (a, b) => profileNames.indexOf(a.base) <= profileNames.indexOf(b.base),
  walls: (a, b) => a.walls || !b.walls,
  rules: (a, b) =>
    (b.otherwise === 'allow' || within(a.rules.allow, b.rules.allow)) &&
    within(b.rules.deny, a.rules.deny) &&
    within(b.rules.ask, [...a.rules.ask, ...a.rules.deny]) &&
    // What was allowed or refused in silence may not become something a person is asked for until somebody says yes.
    (b.otherwise !== 'deny' || within(a.rules.ask, [...b.rules.ask, ...b.rules.allow])),
  otherwise: (a, b) => verdicts.indexOf(a.otherwise) <= verdicts.indexOf(b.otherwise),
  tools: (a, b) => (!a.tools.native || b.tools.native) && within(b.tools.disabled, a.tools.disabled),
  mounts: (a, b) => a.mounts.every((mount) => b.mounts.some((other) => covers(other, mount))),
  network: (a, b) =>
    a.network.allow.every((rule) => reaches(b, rule)) &&
    a.network.ask.every((rule) => reaches(b, rule) || b.network.ask.includes(rule)) &&
    (reachesNothing(a) || isPartOf(b.network.deny, a.network.deny)) &&
    (reachesNothing(a) || isPartOf(b.network.ask, [...a.network.ask, ...a.network.deny])),
  env: (a, b) => within(a.env.pass, b.env.pass) && Object.entries(a.env.set).every(([name, value]) => b.env.set[name] === value),
  secrets: (a, b) => within(a.secrets.map(canonicalJson), b.secrets.map(canonicalJson)),
  limits: (a, b) => (Object.keys(b.limits) as (keyof ProfileLimits)[]).every((key) => a.limits[key] <= b.limits[key]),
  skills: (a, b) => within(a.skills, b.skills),
  subagents: (a, b) => within(a.subagents, b.subagents),
  mcpServers: (a, b) => within(a.mcpServers ?? ['*'], b.mcpServers ?? ['*']),
  instructions: (a, b) => !a.instructions || b.instructions,
  trusted: (a, b) => within(a.trusted.map(canonicalJson), b.trusted.map(canonicalJson)),
  nestedNamespaces: (a, b) => !a.nestedNamespaces || b.nestedNamespaces,
  ssh: (a, b) => a.ssh === undefined || canonicalJson(a.ssh) === canonicalJson(b.ssh),
} satisfies Record<Exclude<keyof Profile, 'name'>, Check>

const verdicts = ['deny', 'ask', 'allow']
const isPartOf = (some: readonly string[], all: readonly string[]) => some.every((one) => all.includes(one))
const within = (some: readonly string[], all: readonly string[]) => all.includes('*') || isPartOf(some, all)
/** A rule that names an address, or what lies on this machine, reaches further than one for every name; and beside rules of `ask` the closer one wins. */
const reaches = ({ network: { allow, ask } }: Profile, rule: string) =>
  allow.includes(rule) ||
  (allow.includes('*') && ask.length === 0 && /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z-]+(:\d+)?$/i.test(rule))
const reachesNothing = ({ network }: Profile) => network.allow.length === 0 && network.ask.length === 0
const covers = (other: ProfileMount, mount: ProfileMount) =>
  other.source === mount.source && other.path === mount.path && (mount.mode === 'ro' || other.mode === 'rw')
