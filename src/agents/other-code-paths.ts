import type { CodePath } from '../domain/code-paths.ts'

/** Of programs that Pawl has no adapter for: a workspace is shared with them all the same. */
export const otherCodePaths: readonly CodePath[] = [
  { path: '.cursor', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: '.continue', treatment: 'hidden', runs: 'servers' },
  { path: '.windsurf', treatment: 'hidden', runs: 'servers' },
  { path: '.kiro', treatment: 'hidden', runs: 'servers' },
  { path: '.qwen', treatment: 'hidden', runs: 'servers' },
  { path: '.amazonq', treatment: 'hidden', runs: 'servers' },
  { path: '.aider.conf.yml', treatment: 'hidden', runs: 'commands' },
  { path: '.cursorrules', treatment: 'text', runs: 'instructions' },
  { path: '.windsurfrules', treatment: 'text', runs: 'instructions' },
]
