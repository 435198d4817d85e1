import type { CodePath } from '../../domain/workspace/code-paths.ts'

export const codePaths: readonly CodePath[] = [
  { path: '.codex', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: '.agents', treatment: 'hidden', runs: 'skills', reserve: true },
  { path: 'AGENTS.md', treatment: 'text', runs: 'instructions' },
  { path: 'AGENTS.override.md', treatment: 'text', runs: 'instructions' },
]
