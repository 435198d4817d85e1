import type { CodePath } from '../../domain/workspace/code-paths.ts'
import type { RepositoryFeature } from '../../domain/workspace/repository-files.ts'

/** A plugin's module is run by the program whatever it is told, so only what is not there does nothing. Over a folder in the place of its settings it would stumble. */
export const codePaths: readonly CodePath[] = [
  { path: '.opencode', treatment: 'hidden', runs: 'plugins', reserve: true },
  { path: 'opencode.json', treatment: 'hidden', runs: 'servers' },
  { path: 'opencode.jsonc', treatment: 'hidden', runs: 'servers' },
  { path: 'AGENTS.md', treatment: 'text', runs: 'instructions' },
]

/** As the program itself chooses. */
export const instructionFiles = [['AGENTS.md', 'CLAUDE.md']]

/** It knows each folder by two names. */
const folders = (name: string, rest: string, called: string): RepositoryFeature[] =>
  [name, `${name}s`].map((folder) => ({ path: `.opencode/${folder}/${rest}`, called }))

export const repositoryFeatures: readonly RepositoryFeature[] = [
  ...folders('skill', '*/SKILL.md', 'skill'),
  { path: '.claude/skills/*/SKILL.md', called: 'skill' },
  { path: '.agents/skills/*/SKILL.md', called: 'skill' },
  ...folders('agent', '*.md', 'agent'),
  ...folders('command', '*.md', 'command'),
  ...folders('plugin', '*', 'plugin'),
  ...folders('tool', '*', 'tool'),
  { path: 'opencode.json' },
  { path: 'opencode.jsonc' },
]
