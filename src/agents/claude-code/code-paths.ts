import type { CodePath } from '../../domain/workspace/code-paths.ts'

export const codePaths: readonly CodePath[] = [
  { path: '.claude', treatment: 'hidden', runs: 'hooks', reserve: true },
  { path: '.mcp.json', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: '.claude-plugin', treatment: 'hidden', runs: 'plugins' },
  { path: '.lsp.json', treatment: 'hidden', runs: 'servers' },
  { path: 'CLAUDE.md', treatment: 'text', runs: 'instructions' },
  { path: 'CLAUDE.local.md', treatment: 'text', runs: 'instructions' },
]
