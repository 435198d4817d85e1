import { access, link, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { unavailable } from '../../src/domain/error.ts'
import { cachedInstall } from './cached-install.ts'

const { platform, arch } = process

const targets: Record<string, string> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/** Where each program lies below `node_modules`. Another program is a line here and a line in package.json, with a new lock. */
const programs = {
  claude: `@anthropic-ai/claude-code-${platform}-${arch}/claude`,
  codex: `@openai/codex-${platform}-${arch}/vendor/${targets[`${platform}-${arch}`]}/bin/codex`,
  /** What a user's `codex` is: a script that starts the other one. */
  codexLauncher: '@openai/codex/bin/codex.js',
  gemini: '@google/gemini-cli/bundle/gemini.js',
  opencode: `opencode-${platform}-${arch}/bin/opencode`,
  claudeAcp: '@agentclientprotocol/claude-agent-acp/dist/index.js',
  codexAcp: '@agentclientprotocol/codex-acp/dist/index.js',
  qwen: '@qwen-code/qwen-code/cli-entry.js',
} as const

/** The absolute path of each program; `searchPath`, the directory to put on PATH to find them by the names that users type; and `modules`, where the makers' libraries lie. */
export type InstalledAgents = { readonly [name in keyof typeof programs | 'searchPath' | 'modules']: string }

/** Holds why they could not be installed, for the tests of a run that has tried it already. */
export const failureVariable = 'PAWL_TEST_AGENTS_FAILURE'

let installed: Promise<InstalledAgents> | undefined

/** The real programs in their pinned versions; downloaded when they are first asked for, later calls of any process find them. */
export function installedAgents(): Promise<InstalledAgents> {
  installed ??= locate()
  return installed
}

async function locate(): Promise<InstalledAgents> {
  const failure = process.env[failureVariable]
  if (failure) throw unavailable(failure)
  const folder = await cachedInstall({
    from: import.meta.dirname,
    cache: cacheFolder(),
    what: 'the real agent programs for the tests (1.7 GB)',
    finish: placeClaude,
  })
  const modules = join(folder, 'node_modules')
  const paths = Object.entries(programs).map(([name, file]) => [name, join(modules, file)] as const)
  for (const [name, path] of paths) {
    await access(path).catch((error: unknown) => {
      throw unavailable(
        `The installed packages hold no program "${path}"; correct the line of "${name}" in test/real-agents/install.ts, or use a system that ${name} is made for.`,
        error,
      )
    })
  }
  return { ...(Object.fromEntries(paths) as Record<keyof typeof programs, string>), searchPath: join(modules, '.bin'), modules }
}

/** Its package brings a placeholder that its install script replaces by the program; we run no scripts of packages. */
async function placeClaude(folder: string): Promise<void> {
  const placeholder = join(folder, 'node_modules/@anthropic-ai/claude-code/bin/claude.exe')
  await rm(placeholder)
  await link(join(folder, 'node_modules', programs.claude), placeholder)
}

function cacheFolder(): string {
  const { PAWL_TEST_CACHE, XDG_CACHE_HOME } = process.env
  return join(PAWL_TEST_CACHE || XDG_CACHE_HOME || join(homedir(), '.cache'), 'pawl-real-agents')
}
