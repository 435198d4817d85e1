import { compileGlob } from '../rule/glob.ts'
import { parseRule } from '../rule/rule.ts'
import { isSameTool, toolNamed } from '../rule/tools.ts'
import { type Decision, decidedByName } from './decide.ts'
import type { Profile } from './profile.ts'

/** What follows from a profile for the tools that a program has, before it is started. */
export interface ToolAccess {
  /** Never asked about: every call of them is allowed. */
  readonly free: readonly string[]
  /** Each call is decided when it comes. */
  readonly checked: readonly string[]
  /** Not to be offered at all: every call of them would be refused. */
  readonly absent: readonly string[]
  /** Of each tool that is not free, the first setting that narrows it. */
  readonly because: Readonly<Record<string, Narrowing>>
}

export interface Narrowing {
  readonly from: Exclude<Decision['from'], 'bypass' | 'rules.allow'>
  /** As a person would find it in the profile: `deny Bash(git push:*)`. */
  readonly text: string
}

type Deciding = Pick<Profile, 'rules' | 'otherwise' | 'tools' | 'skills' | 'subagents'>

/** Sorts the tools of a program. A program that asks for permission where it need not is only slower, so in doubt a tool is `checked`. */
export function toolAccess(profile: Deciding, tools: readonly string[]): ToolAccess {
  const free: string[] = []
  const checked: string[] = []
  const absent: string[] = []
  const because: Record<string, Narrowing> = {}
  for (const tool of tools) {
    const gone = absence(profile, tool)
    const narrowed = gone ?? narrowing(profile, tool)
    if (narrowed) because[tool] = narrowed
    ;(gone ? absent : narrowed ? checked : free).push(tool)
  }
  return { free, checked, absent, because }
}

/** Why no call of the tool can be allowed. */
function absence(profile: Deciding, tool: string): Narrowing | undefined {
  const { name, own, native } = toolNamed(tool)
  const disabled = profile.tools.disabled.find((other) =>
    other.includes('*') ? compileGlob(other).matches(own) : isSameTool(tool, other),
  )
  if (disabled !== undefined) return { from: 'tools.disabled', text: `tools.disabled ${disabled}` }
  if (!profile.tools.native && native && !kept.has(name)) return { from: 'tools.native', text: 'tools.native false' }
  if (name === 'Skill' && profile.skills.length === 0) return { from: 'skills', text: 'skills []' }
  if (name === 'Task' && profile.subagents.length === 0) return { from: 'subagents', text: 'subagents []' }
  // A question cannot be half allowed.
  const denied = covering(profile.rules.deny, tool, { bareOnly: name !== 'AskUserQuestion' })
  if (denied !== undefined) return { from: 'rules.deny', text: `deny ${denied}` }
  const { allow, ask } = profile.rules
  const isNamed = [...allow, ...ask].some((rule) => covering([rule], tool) !== undefined)
  const isListed = decidedByName.some(([named]) => named === name)
  return profile.otherwise === 'deny' && !isNamed && !isListed ? { from: 'otherwise', text: 'otherwise deny' } : undefined
}

/** Why each call of the tool must be looked at. */
function narrowing(profile: Deciding, tool: string): Narrowing | undefined {
  const { name } = toolNamed(tool)
  // To ask a person about a question to a person would be one too many.
  if (name === 'AskUserQuestion') return undefined
  // A shell writes and reads files too, so rules about those are about it.
  for (const about of name === 'Bash' ? [tool, 'Write', 'Read'] : [tool])
    for (const list of ['deny', 'ask'] as const) {
      const rule = covering(profile.rules[list], about)
      if (rule !== undefined) return { from: `rules.${list}`, text: `${list} ${rule}` }
    }
  for (const [named, from] of decidedByName) {
    if (name === named && !profile[from].includes('*')) return { from, text: `${from} ${profile[from].join(', ')}` }
  }
  const { otherwise } = profile
  const isFree = otherwise === 'allow' || covering(profile.rules.allow, tool, { bareOnly: true }) !== undefined
  return isFree ? undefined : { from: 'otherwise', text: `otherwise ${otherwise}` }
}

/** The first rule that is about the tool. */
function covering(list: readonly string[], tool: string, { bareOnly = false } = {}): string | undefined {
  const { name } = toolNamed(tool)
  return list.find((text) => {
    const parsed = parseRule(text)
    return 'rule' in parsed && parsed.rule.coversTool(name) && !(bareOnly && parsed.rule.hasPattern)
  })
}

/** What our own server does not replace. */
const kept: ReadonlySet<string> = new Set(['Plan', 'AskUserQuestion', 'Task', 'Skill'])
