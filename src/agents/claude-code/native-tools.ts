import { PawlError } from '../../domain/error.ts'
import { compileGlob } from '../../domain/rule/glob.ts'
import { isSameTool } from '../../domain/rule/tools.ts'
import type { LaunchSpec } from '../port.ts'
import { knows } from './versions.ts'

/** Those of 2.1.325 and of versions before it; names that a version does not know are overlooked by it. */
export const ownTools = [
  ['Agent', 'AskUserQuestion', 'Bash', 'BashOutput', 'Edit', 'EnterPlanMode', 'EnterWorktree', 'ExitPlanMode', 'ExitWorktree'],
  ['Glob', 'Grep', 'KillShell', 'ListAgents', 'LS', 'LSP', 'MultiEdit', 'NotebookEdit', 'NotebookRead', 'Read', 'ReportFindings'],
  ['SendMessage', 'Skill', 'Task', 'TaskStop', 'TodoWrite', 'WebFetch', 'WebSearch', 'Write'],
].flat()

/** Which of the program's own tools the model is told of. Tools of servers, ours among them, are not touched by it, in subagents neither. */
export function nativeTools({ native, disabledTools = [], toolAccess, skills, subagents, version }: Given): string[] {
  const isDisabled = (name: string) =>
    disabledTools.some((other) => (other.includes('*') ? compileGlob(other).matches(name) : isSameTool(name, other)))
  // Those that are absent because all of them are need not be named.
  const isAbsent = (name: string) =>
    toolAccess?.absent.includes(name) === true && toolAccess.because[name]?.from !== 'tools.native'
  const disabled = ownTools.filter((name) => isDisabled(name) || isAbsent(name)).map((name) => `--disallowedTools=${name}`)
  if (native !== false) return disabled
  if (!knows(version, '--tools')) {
    throw new PawlError(
      'unsupported',
      `Claude Code ${version} cannot do without its own tools, which the profile switches off; update it, or choose another profile.`,
    )
  }
  // What the profile gives of these is given by these.
  const left = [...(skills?.folder === undefined ? [] : ['Skill']), ...(subagents?.items.length ? ['Agent', 'Task'] : [])]
  return [`--tools=${left.join(',')}`, ...disabled]
}

type Given = Pick<LaunchSpec, 'native' | 'disabledTools' | 'toolAccess' | 'skills' | 'subagents' | 'version'>
