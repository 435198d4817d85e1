import { invalid } from '../../domain/error.ts'
import { classOf } from './address-class.ts'
import { readHost, readPort, readWrittenHost, splitAuthority } from './host-name.ts'

/** One pattern of a profile's network lists. */
export interface HostRule {
  /** As it was written. */
  readonly text: string
  /** The name or address; without the `*.` of a suffix; empty for `*`. */
  readonly host: string
  readonly kind: 'exact' | 'suffix' | 'any' | 'address'
  readonly ports: readonly number[]
  /** May lead to this machine or a private network. */
  readonly local: boolean
}

export interface HostRules {
  readonly allow: readonly HostRule[]
  readonly ask: readonly HostRule[]
  readonly deny: readonly HostRule[]
}

export type Verdict = 'allow' | 'ask' | 'deny'

export interface Decision {
  readonly verdict: Verdict
  /** In normal form; what the client said, made printable, if that is no host. */
  readonly host: string
  readonly port: number
  /** The rule that decided, as it was written. */
  readonly rule?: string | undefined
  readonly why: string
  /** May it lead to this machine or a private network? */
  readonly local: boolean
}

/** Ports of a rule that names none. */
const webPorts = [443, 80]

/**
 * Reads `host`, `*.host`, `*` or an address, each with `:port` or without, and with ` local` behind it if the name may lead to this machine or a private network.
 * An address means exactly itself, so it needs no such word.
 */
export function readRule(text: string, list: 'allow' | 'ask' | 'deny' = 'allow'): HostRule {
  const key = `${list} ${text}`
  const known = read.get(key)
  if (known) return known
  const rule = parseRule(text, list)
  if (read.size >= mostRead) read.clear()
  read.set(key, rule)
  return rule
}

/** Every run reads those of its profile, most of them like the runs before it. */
const read = new Map<string, HostRule>()
const mostRead = 1_000

function parseRule(text: string, list: 'allow' | 'ask' | 'deny'): HostRule {
  const [pattern = '', word, ...more] = text.trim().split(/ +/)
  if (more.length > 0 || (word !== undefined && word !== 'local'))
    throw invalid(`The network rule ${shown(text)} has a word too many; only "local" may follow the host.`)
  const parts = splitAuthority(pattern)
  const port = parts?.port === undefined ? undefined : readPort(parts.port)
  if (!parts || (parts.port !== undefined && port === undefined)) throw notARule(text)
  const base = { text: text.trim(), ports: port === undefined ? webPorts : [port], local: word === 'local' }
  if (parts.host.startsWith('*')) {
    if (base.local) throw invalid(`The network rule ${shown(text)} is too wide: "local" needs the full name of one host.`)
    if (parts.host === '*') return { ...base, kind: 'any', host: '' }
    const suffix = parts.host.startsWith('*.') ? readWrittenHost(parts.host.slice(2)) : undefined
    if (suffix?.kind !== 'name') throw notARule(text)
    return { ...base, kind: 'suffix', host: suffix.name }
  }
  const host = readWrittenHost(parts.host)
  if (!host) throw notARule(text)
  if (host.kind === 'name') return { ...base, kind: 'exact', host: host.name }
  const kind = classOf(host.name)
  if (kind === 'special' && list !== 'deny')
    throw invalid(`The network rule ${shown(text)} names an address that no run may reach; remove it.`)
  return { ...base, kind: 'address', host: host.name, local: kind === 'local' }
}

/** `granted` are hosts that a person allowed for this task when asked. */
export function readRules(lists: {
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  readonly granted?: readonly string[]
}): HostRules & { readonly granted: readonly HostRule[] } {
  return {
    allow: lists.allow.map((text) => readRule(text)),
    ask: lists.ask.map((text) => readRule(text, 'ask')),
    deny: lists.deny.map((text) => readRule(text, 'deny')),
    granted: (lists.granted ?? []).map((text) => readRule(text)),
  }
}

/**
 * May a run connect there? A deny always wins. Between ask and allow the rule that names the host more closely wins, so that "ask for everything" can stand beside
 * a list of what is allowed; ask wins if both are as close. What nothing names is refused.
 */
export function decide(rules: HostRules & { readonly granted?: readonly HostRule[] }, hostText: string, port: number): Decision {
  const host = readHost(hostText)
  if (!host || !Number.isInteger(port) || port < 1 || port > 65_535)
    return {
      verdict: 'deny',
      host: printable(hostText),
      port,
      why: 'that is no host name that everybody reads alike',
      local: false,
    }
  const at = { host: host.name, port }
  const closest = (list: readonly HostRule[]) =>
    list.filter((rule) => matches(rule, host, port)).toSorted((a, b) => closeness(b) - closeness(a))[0]
  const denied = closest(rules.deny)
  if (denied) return { ...at, verdict: 'deny', rule: denied.text, why: 'a rule of network.deny names it', local: false }
  const [allowed, asked] = [closest(rules.allow), closest(rules.ask)]
  // Only what a rule lets be asked can be granted: an agent may put any question to a person.
  if (asked && closest(rules.granted ?? []))
    return { ...at, verdict: 'allow', rule: asked.text, why: 'it was allowed for this task', local: asked.local }
  if (asked && (!allowed || closeness(asked) >= closeness(allowed)))
    return { ...at, verdict: 'ask', rule: asked.text, why: 'a rule of network.ask names it', local: false }
  if (allowed)
    return { ...at, verdict: 'allow', rule: allowed.text, why: 'a rule of network.allow names it', local: allowed.local }
  return { ...at, verdict: 'deny', why: 'no rule names it', local: false }
}

/** Is an address that a name leads to refused by itself? */
export const deniesAddress = (rules: HostRules, address: string, port: number) =>
  rules.deny.some((rule) => rule.kind === 'address' && rule.host === address && rule.ports.includes(port))

/** An address is only ever meant by a rule that spells it out. */
function matches(rule: HostRule, host: { name: string; kind: 'name' | 'address' }, port: number): boolean {
  if (!rule.ports.includes(port)) return false
  if (host.kind === 'address') return rule.kind === 'address' && rule.host === host.name
  if (rule.kind === 'any') return true
  return rule.kind === 'suffix' ? host.name.endsWith(`.${rule.host}`) : rule.kind === 'exact' && rule.host === host.name
}

function closeness({ kind, host }: HostRule): number {
  return kind === 'any' ? 0 : kind === 'suffix' ? host.split('.').length : 1_000
}

/** For an answer, an event or a log line: short, and nothing that a terminal obeys. */
export const printable = (text: string) => text.slice(0, 100).replaceAll(/[^\x21-\x7e]/g, '?')

const shown = (text: string) => JSON.stringify(text.slice(0, 200))

const notARule = (text: string) =>
  invalid(
    `${shown(text)} is no network rule; write a host as "example.org", "*.example.org" or "127.0.0.1", with ":port" or without (then 443 and 80).`,
  )
