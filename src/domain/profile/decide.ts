import { isObject } from '../base/object.ts'
import { compileGlob } from '../rule/glob.ts'
import { type CallPlace, partsOf, type ToolCall } from '../rule/parts.ts'
import { parseRule, type Rule, type RulePart } from '../rule/rule.ts'
import { isSameTool, knownTools, type ToolName, toolFacts, toolNamed } from '../rule/tools.ts'
import type { Profile } from './profile.ts'

export interface Decision {
  readonly verdict: 'allow' | 'ask' | 'deny'
  /** As it is written in the profile; undefined if no rule is about the call. */
  readonly rule?: string | undefined
  /** The setting that decides. */
  readonly from:
    | 'bypass'
    | 'tools.disabled'
    | 'tools.native'
    | 'skills'
    | 'subagents'
    | 'rules.deny'
    | 'rules.ask'
    | 'rules.allow'
    | 'otherwise'
  /** One sentence for a person. */
  readonly why: string
}

type Deciding = Pick<Profile, 'name' | 'rules' | 'otherwise' | 'tools' | 'skills' | 'subagents'>

/** What becomes of a call. The narrowest verdict of all its parts counts: a deny if any part is denied, an allow only if every part is allowed. */
export function decide(profile: Deciding, call: ToolCall, place: CallPlace = {}): Decision {
  const tool = toolNamed(call.tool)
  const plain = refusedAsTool(profile, call, tool)
  if (plain) return plain
  const rules = compiled(profile)
  let narrowest: Decision | undefined
  const parts = partsOf(call, place)
  for (const part of parts) {
    const decision = decidePart(profile, rules, part, parts.length > 1)
    if (!narrowest || order.indexOf(decision.verdict) < order.indexOf(narrowest.verdict)) narrowest = decision
  }
  return narrowest!
}

const order: readonly Decision['verdict'][] = ['deny', 'ask', 'allow']

/** What is refused whatever the rules say. */
function refusedAsTool(profile: Deciding, call: ToolCall, tool: ToolName): Decision | undefined {
  const flag = bypassIn(call.input)
  if (flag !== undefined)
    return {
      verdict: 'deny',
      from: 'bypass',
      why: `The call asks to get around the sandbox ("${flag}"), which no profile allows.`,
    }
  const disabled = profile.tools.disabled.find((name) =>
    name.includes('*') ? compileGlob(name).matches(tool.own) : isSameTool(call.tool, name),
  )
  if (disabled !== undefined)
    return { verdict: 'deny', rule: disabled, from: 'tools.disabled', why: `Profile "${profile.name}" disables ${disabled}.` }
  if (!profile.tools.native && tool.native && !harmless.has(tool.name)) {
    const instead = ours.has(tool.own) ? `mcp__pawl__${tool.own}` : 'the tools of the server "pawl"'
    const why = `Profile "${profile.name}" switches the program's own tools off; use ${instead}.`
    return { verdict: 'deny', from: 'tools.native', why }
  }
  for (const [name, from] of decidedByName) {
    if (tool.name !== name) continue
    const wanted = partsOf(call)[0]?.text
    // A program's own general helper has no name of its own.
    const isAllowed = profile[from].includes('*') || (wanted !== undefined && profile[from].includes(wanted))
    if (!isAllowed)
      return {
        verdict: 'deny',
        from,
        why: `Profile "${profile.name}" does not have ${wanted ?? 'an unnamed one'} among its ${from}.`,
      }
  }
  return undefined
}

/** Tools of which the profile lists what they may be called with. To be listed by name is to be allowed, unless a rule says otherwise. */
export const decidedByName = [
  ['Skill', 'skills'],
  ['Task', 'subagents'],
] as const

/** They only arrange the agent's own thoughts, or are decided by a setting of their own. */
const harmless: ReadonlySet<string> = new Set(['Plan', 'AskUserQuestion', 'Task', 'Skill'])
/** What our own server offers under the same names. */
const ours = new Set([
  'Bash',
  'Read',
  'ReadDocument',
  'Write',
  'Edit',
  'MultiEdit',
  'Glob',
  'Grep',
  'LS',
  'WebFetch',
  'AskUserQuestion',
])

interface Rules {
  readonly deny: readonly Rule[]
  readonly ask: readonly Rule[]
  readonly allow: readonly Rule[]
}

function decidePart(profile: Deciding, rules: Rules, part: RulePart & { readonly of?: string }, isOneOfMany: boolean): Decision {
  const what = part.text === undefined ? 'what it says cannot be read' : isOneOfMany ? `because of "${shown(part.text)}"` : ''
  const because = what === '' ? '' : ` (${what})`
  for (const list of ['deny', 'ask'] as const) {
    // What cannot be read may be what the rule is about.
    const rule = rules[list].find((each) => [part.text, ...part.also].some((text) => each.coversPart({ ...part, text }) ?? true))
    if (rule)
      return {
        verdict: list,
        rule: rule.text,
        from: `rules.${list}`,
        why: `The rule ${list} ${rule.text} of profile "${profile.name}" is about it${because}.`,
      }
  }
  const allowing = rules.allow.find(
    (each) => each.coversPart(part) === true || (part.of !== undefined && !each.hasPattern && each.coversTool(part.of)),
  )
  if (allowing)
    return {
      verdict: 'allow',
      rule: allowing.text,
      from: 'rules.allow',
      why: `The rule allow ${allowing.text} of profile "${profile.name}" is about it${because}.`,
    }
  const from = decidedByName.find(([name]) => name === part.tool)?.[1]
  if (from && part.text !== undefined && profile[from].includes(part.text))
    return { verdict: 'allow', from, why: `Profile "${profile.name}" names it among its ${from}.` }
  return {
    verdict: profile.otherwise,
    from: 'otherwise',
    why: `No rule of profile "${profile.name}" is about it${because}; what no rule names it would ${words[profile.otherwise]}.`,
  }
}

const words = { allow: 'allow', ask: 'ask about', deny: 'deny' }
const shown = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

/** The rules of a profile are read once, however many calls are held against them. */
const known = new WeakMap<object, Rules>()
function compiled({ rules }: Deciding): Rules {
  let made = known.get(rules)
  if (!made) {
    made = { deny: rules.deny.map(read), ask: rules.ask.map(read), allow: rules.allow.flatMap(readAllowing) }
    known.set(rules, made)
  }
  return made
}

/** Settings are checked before they count, so a bad rule can only come from elsewhere: it denies or asks always, and never allows. */
const read = (text: string): Rule => {
  const parsed = parseRule(text)
  return 'rule' in parsed ? parsed.rule : { text, hasPattern: false, coversTool: () => true, coversPart: () => true }
}
const readAllowing = (text: string): Rule[] => {
  const parsed = parseRule(text)
  return 'rule' in parsed ? [parsed.rule] : []
}

/** Names under which programs let a call out of their own sandbox; compared without case, dashes and underscores. */
const bypasses = [
  'dangerouslydisablesandbox',
  'disablesandbox',
  'bypasssandbox',
  'skipsandbox',
  'nosandbox',
  'withescalatedpermissions',
]

function bypassIn(input: unknown): string | undefined {
  if (!isObject(input)) return undefined
  for (const [key, value] of Object.entries(input)) {
    const name = key.toLowerCase().replace(/[-_]/g, '')
    if (bypasses.includes(name) && value !== false && value !== null && value !== undefined) return key
    if (name === 'sandboxpermissions' && value === 'require_escalated') return key
  }
  return undefined
}

/** What an agent may do instead, in a few words: the rules that allow, or what is left if all but some is allowed. */
export function whatIsAllowed(profile: Deciding, tool: string): string {
  const { name } = toolNamed(tool)
  const allowed = compiled(profile)
    .allow.filter((rule) => rule.coversTool(name))
    .map((rule) => rule.text)
  if (allowed.length > 0) return `Allowed are: ${allowed.join(', ')}.`
  if (profile.otherwise === 'allow') return `Other calls of ${toolFacts(name) ? name : tool} are allowed.`
  const others = knownTools.filter((other) => compiled(profile).allow.some((rule) => !rule.hasPattern && rule.coversTool(other)))
  return others.length > 0 ? `Tools that need no permission: ${others.join(', ')}.` : 'Nothing is allowed without asking.'
}
