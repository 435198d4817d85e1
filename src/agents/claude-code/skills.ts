import { PawlError } from '../../domain/error.ts'
import type { LaunchSpec } from '../port.ts'
import { knows } from './versions.ts'

type Given = Pick<LaunchSpec, 'skills' | 'subagents' | 'version' | 'native'>

/** As a plugin of this one start: skills of the user's own settings would need those settings, and whatever else an agent has put beside them. */
export function skillArgs({ skills, version }: Given): string[] {
  if (!skills) return []
  if (skills.folder === undefined) return skills.own ? [] : ['--disallowedTools=Skill', ...noCommands(version)]
  if (!knows(version, '--plugin-dir')) {
    throw new PawlError('unsupported', `Claude Code ${version} cannot be given skills; update it, or name none in the profile.`)
  }
  return [`--plugin-dir=${skills.folder}`]
}

/** The tool alone would leave what a prompt calls by a slash. */
const noCommands = (version: string | undefined) =>
  knows(version, '--disable-slash-commands') ? ['--disable-slash-commands'] : []

export const skillVariables = ({ skills }: Given): Record<string, string> =>
  skills && !skills.own ? { CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1' } : {}

/** Those that the program brings, as of 2.1.325; names that a version does not know are overlooked by it. */
const ownSubagents = [
  'claude',
  'claude-code-guide',
  'Explore',
  'general-purpose',
  'output-style-setup',
  'Plan',
  'statusline-setup',
] as const

/** One of ours takes the place of the program's own of the same name; others of its own are taken away unless they are allowed too. */
export function subagentArgs({ subagents, native }: Given): string[] {
  if (!subagents) return []
  const { own, items } = subagents
  if (own !== 'all' && own.length === 0) return ['--disallowedTools=Task']
  const unwanted = own === 'all' ? [] : ownSubagents.filter((name) => !own.includes(name))
  // Where the program's own tools are off, those that a subagent names are ours.
  const ours = (tool: string) => (native === false && !tool.startsWith('mcp__') ? `mcp__pawl__${tool}` : tool)
  const defined = items.map(({ name, tools, ...definition }) => [name, { ...definition, tools: tools?.map(ours) }] as const)
  return [
    ...unwanted.map((name) => `--disallowedTools=Task(${name})`),
    ...(defined.length > 0 ? [`--agents=${JSON.stringify(Object.fromEntries(defined))}`] : []),
  ]
}
