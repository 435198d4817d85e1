import type { CodePath } from '../../domain/workspace/code-paths.ts'
import type { RepositoryFeature } from '../../domain/workspace/repository-files.ts'

export const codePaths: readonly CodePath[] = [
  { path: '.codex', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: '.agents', treatment: 'hidden', runs: 'skills', reserve: true },
  { path: 'AGENTS.md', treatment: 'text', runs: 'instructions' },
  { path: 'AGENTS.override.md', treatment: 'text', runs: 'instructions' },
]

/** The program itself takes the first of the first two. */
export const instructionFiles = [['AGENTS.override.md', 'AGENTS.md', 'CLAUDE.md']]

export const repositoryFeatures: readonly RepositoryFeature[] = [
  { path: '.agents/skills/*/SKILL.md', called: 'skill' },
  { path: '.codex/skills/*/SKILL.md', called: 'skill' },
  { path: '.codex/agents/*', called: 'agent' },
  { path: '.codex/rules/*.rules', called: 'rule' },
  { path: '.codex/hooks.json', hasHooks: true },
  { path: '.codex/config.toml' },
]
