import type { CodePath } from '../../domain/workspace/code-paths.ts'
import type { RepositoryFeature } from '../../domain/workspace/repository-files.ts'

export const codePaths: readonly CodePath[] = [
  { path: '.claude', treatment: 'hidden', runs: 'hooks', reserve: true },
  { path: '.mcp.json', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: '.claude-plugin', treatment: 'hidden', runs: 'plugins' },
  { path: '.lsp.json', treatment: 'hidden', runs: 'servers' },
  { path: 'CLAUDE.md', treatment: 'text', runs: 'instructions' },
  { path: 'CLAUDE.local.md', treatment: 'text', runs: 'instructions' },
]

/** `.claude` is covered because of what else lies there; its CLAUDE.md is text like the others. */
export const instructionFiles = [['CLAUDE.md'], ['.claude/CLAUDE.md'], ['CLAUDE.local.md'], ['AGENTS.md']]

export const repositoryFeatures: readonly RepositoryFeature[] = [
  { path: '.claude/skills/*/SKILL.md', called: 'skill' },
  { path: '.claude/agents/*.md', called: 'agent' },
  { path: '.claude/commands/*.md', called: 'command' },
  { path: '.claude/rules/*.md', called: 'rule' },
  { path: '.claude/settings.json', hasHooks: true },
  { path: '.claude/settings.local.json', hasHooks: true },
  { path: '.mcp.json' },
]
