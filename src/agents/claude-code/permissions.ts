import type { LaunchSpec } from '../port.ts'

type Given = Pick<LaunchSpec, 'toolAccess'>

/** What the program must ask us about though it would not by itself: it reads in its workspace, runs commands that only look, and starts subagents without a word. */
export function askedTools({ toolAccess }: Given): readonly string[] {
  return toolAccess?.checked ?? []
}

/** Of the tools that need no permission, those that the profile leaves free. About any other the program asks, and the profile's rules decide. */
export function freeTools(allowed: readonly string[], { toolAccess }: Given): readonly string[] {
  if (!toolAccess) return allowed
  return allowed.flatMap(splitRules).filter((rule) => toolAccess.free.includes(rule.split('(')[0] ?? ''))
}

/** A file that a prompt mentions with an @ is read by the program itself, whatever it was told about reading. */
export const permissionVariables = ({ toolAccess }: Given): Record<string, string> =>
  !toolAccess || toolAccess.free.includes('Read') ? {} : { CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1' }

/** One entry may hold several rules, with commas or spaces between them and in their patterns. */
const splitRules = (entry: string): string[] => entry.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []
