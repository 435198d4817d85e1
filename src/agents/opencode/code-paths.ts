import type { CodePath } from '../../domain/workspace/code-paths.ts'

/** A plugin's module is run by the program whatever it is told, so only what is not there does nothing. Over a folder in the place of its settings it would stumble. */
export const codePaths: readonly CodePath[] = [
  { path: '.opencode', treatment: 'hidden', runs: 'plugins', reserve: true },
  { path: 'opencode.json', treatment: 'hidden', runs: 'servers' },
  { path: 'opencode.jsonc', treatment: 'hidden', runs: 'servers' },
  { path: 'AGENTS.md', treatment: 'text', runs: 'instructions' },
]
