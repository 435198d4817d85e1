import type { CodePath } from '../../domain/workspace/code-paths.ts'

/** `.env` is no such path: the program is told to leave it alone, and it is the user's own. */
export const codePaths: readonly CodePath[] = [
  { path: '.gemini', treatment: 'hidden', runs: 'servers', reserve: true },
  { path: 'GEMINI.md', treatment: 'text', runs: 'instructions' },
]
