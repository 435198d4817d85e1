import type { CodePath } from '../../domain/workspace/code-paths.ts'

const logins = (...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'secret', runs: 'logins' }))
const hidden = (runs: string, ...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'hidden', runs }))
const text = (...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'text', runs: 'instructions' }))
const flagged = (...paths: string[]): CodePath[] => paths.map((path) => ({ path, treatment: 'flagged', runs: 'settings' }))

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
  ...hidden('servers', '.cursor*', '.continue*', '.windsurf*', '.kiro', '.qwen*', '.amazonq', '.cline*', '.roo', '.roomodes'),
  ...hidden(
    'servers',
    '.roo-*',
    '.kilocode*',
    '.kilo*',
    '.factory',
    '.junie*',
    '.trae*',
    '.amp',
    '.augment*',
    '.goose*',
    '.crush*',
  ),
  ...hidden('servers', 'crush.json', '.copilot*', '.openhands*', '.codebuddy*', '.iflow*', '.droid*', '.tabnine*', '.cody*'),
  ...hidden('servers', '.sourcegraph', '.plandex*', '.gptme*', 'gptme.toml', '.serena', '.forge', '.zencoder*', '.void', '.pi'),
  ...hidden('servers', '.claude*', '.codex*', '.gemini*', '.opencode*', '.mcp*', 'mcp.json', '.agent', '.warp', '.rovodev*'),
  ...hidden('commands', '.aider*'),
  ...text('.cursorrules', '.windsurfrules', '.clinerules', '.roorules*', '.goosehints', '.junie/guidelines.md', '.rules'),
  ...text('copilot-instructions.md'),
  // What they write themselves where they work, and what only keeps files from them.
  ...flagged('.aider.chat.history.md', '.aider.input.history', '.aider.llm.history', '.aider.tags.cache*', '.aiderignore'),
  ...flagged('.cursorignore', '.cursorindexingignore', '.geminiignore', '.clineignore', '.rooignore', '.kilocodeignore'),
  ...flagged('.augmentignore', '.qwenignore', '.windsurfignore', '.codeiumignore', '.gooseignore'),
]
