import type { CodePath } from '../../domain/workspace/code-paths.ts'
import type { RepositoryFeature } from '../../domain/workspace/repository-files.ts'

/** `.env` is no such path: the program is told to leave it alone, and it is the user's own. */
export const codePaths: readonly CodePath[] = [
  { path: '.gemini', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: 'GEMINI.md', treatment: 'text', runs: 'instructions' },
]

/** This one the program reads by itself; settings can only name another one in its place. */
export const ownInstructions = ['GEMINI.md']
export const instructionFiles = [['AGENTS.md']]

export const repositoryFeatures: readonly RepositoryFeature[] = [
  { path: '.gemini/skills/*/SKILL.md', called: 'skill' },
  { path: '.agents/skills/*/SKILL.md', called: 'skill' },
  { path: '.gemini/agents/*.md', called: 'agent' },
  { path: '.gemini/commands/*.toml', called: 'command', countsIfTrusted: true },
  { path: '.gemini/extensions/*/gemini-extension.json', called: 'extension' },
  { path: '.gemini/settings.json', hasHooks: true, countsIfTrusted: true },
]
