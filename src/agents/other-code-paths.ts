import type { CodePath } from '../domain/code-paths.ts'

const logins = (...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'secret', runs: 'logins' }))

/** Of programs that Pawl has no adapter for: a workspace is shared with them all the same. */
export const otherCodePaths: readonly CodePath[] = [
  ...logins(
    '.claude.json',
    '.gemini/google_accounts.json',
    '.qwen/oauth_creds.json',
    '.factory/auth*',
    '.config/cursor/auth.json',
  ),
  ...logins('.local/share/amp/secrets.json', '.config/goose/secrets*', '.kimi/credentials*', '.copilot/config.json'),
  ...logins(
    '.config/github-copilot',
    '.aider/oauth*',
    '.config/cursor/user/globalstorage',
    '.config/windsurf/user/globalstorage',
  ),
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
