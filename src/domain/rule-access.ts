import type { Profile } from './profile.ts'
import { parseRule } from './rule.ts'
import { compileGlob } from './rule-glob.ts'
import { isSameTool, toolNamed } from './rule-tools.ts'

/** What follows from a profile for the tools that a program has, before it is started. */
export interface ToolAccess {
  /** Never asked about: every call of them is allowed. */
  readonly free: readonly string[]
  /** Each call is decided when it comes. */
  readonly checked: readonly string[]
  /** Not to be offered at all. */
  readonly absent: readonly string[]
}

/** Sorts the tools of a program. A program that asks for permission where it need not is only slower, so in doubt a tool is `checked`. */
export function toolAccess(
  profile: Pick<Profile, 'rules' | 'otherwise' | 'tools' | 'skills' | 'subagents'>,
  tools: readonly string[],
): ToolAccess {
  const free: string[] = []
  const checked: string[] = []
  const absent: string[] = []
  const covered = (list: readonly string[], tool: string, bareOnly: boolean) =>
    list.some((text) => {
      const parsed = parseRule(text)
      return 'rule' in parsed && parsed.rule.coversTool(toolNamed(tool).name) && !(bareOnly && parsed.rule.hasPattern)
    })
  for (const tool of tools) {
    const { name, own, native } = toolNamed(tool)
    const { disabled } = profile.tools
    const isDisabled = disabled.some((other) => (other.includes('*') ? compileGlob(other).matches(own) : isSameTool(tool, other)))
    const isReplaced = !profile.tools.native && native && !kept.has(name)
    const isEmpty = (name === 'Skill' && profile.skills.length === 0) || (name === 'Task' && profile.subagents.length === 0)
    if (isDisabled || isReplaced || isEmpty || covered(profile.rules.deny, tool, true)) absent.push(tool)
    else if (
      covered(profile.rules.deny, tool, false) ||
      covered(profile.rules.ask, tool, false) ||
      name === 'Skill' ||
      name === 'Task'
    )
      checked.push(tool)
    // A shell writes and reads files too, so rules about those are about it.
    else if (
      name === 'Bash' &&
      ['Write', 'Read'].some((file) => covered(profile.rules.deny, file, false) || covered(profile.rules.ask, file, false))
    )
      checked.push(tool)
    else if (profile.otherwise === 'allow' || covered(profile.rules.allow, tool, true)) free.push(tool)
    else checked.push(tool)
  }
  return { free, checked, absent }
}

/** What our own server does not replace. */
const kept: ReadonlySet<string> = new Set(['Plan', 'AskUserQuestion', 'Task', 'Skill'])
