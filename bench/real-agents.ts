import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { startModelServer } from '../test/model-server/server.ts'
import { type InstalledAgents, installedAgents } from '../test/real-agents/install.ts'
import { type Program as AnyProgram, geminiProgram, opencodeProgram, programs } from '../test/real-agents/peer.ts'
import type { DaemonSettings } from './daemon.ts'
import type { Place } from './place.ts'
import { claudeAlone, codexAlone } from './turns-alone.ts'

/** A program whose command is known as a user types it. */
export type Program = AnyProgram<keyof typeof typedArgs>

/** Every one of them. */
export const everyProgram: readonly Program[] = [...programs, geminiProgram, opencodeProgram]

/** The real programs, the scripted model they talk to, and where they work. */
export interface RealAgents {
  readonly programs: readonly Program[]
  readonly agents: NonNullable<DaemonSettings['agents']>
  /** Writable for the agents' user, so that root's daemon need not copy it. */
  readonly workspace: string
  /** The command that a user types, in a home that has seen it before: from its start to the event that ends the turn. */
  typed(program: Program, prompt: string): Promise<number>
  /** Both turns of a program that is driven by nobody but the benchmark; undefined for one that is not driven so. */
  alone(program: Program, prompt: string): Promise<{ firstMs: number; secondMs: number } | undefined>
}

export async function startRealAgents(
  place: Place,
  scenario: string,
  chosen: readonly Program[] = programs,
): Promise<RealAgents> {
  const installed = await installedAgents()
  const models = await startModelServer()
  place.onEnd(() => models.close())
  const base = (program: Program, who: string) => `${models.base(scenario, `${program.agent}-${who}`)}${program.api}`
  const workspace = join(place.folder, 'workspace')
  await mkdir(workspace)
  await chmod(workspace, 0o777)
  const keyFile = join(place.folder, 'key')
  await writeFile(keyFile, key, { mode: 0o600 })
  const userHome = join(place.folder, 'user')
  await makeUserHome(userHome, (program) => base(program, 'typed'))
  return {
    programs: chosen,
    workspace,
    agents: Object.fromEntries(
      chosen.map((program) => [
        program.agent,
        {
          adapter: program.adapter,
          model: program.model,
          // As typed: for codex the script in front of the program.
          command: commandOf(program, installed),
          baseUrl: base(program, 'ours'),
          auth: { file: keyFile },
        },
      ]),
    ),
    async typed(program, prompt) {
      const child = spawn(commandOf(program, installed), typedArgs[program.agent](prompt), {
        cwd: workspace,
        env: { ...typedEnvironment(userHome), ...addresses[program.agent](base(program, 'typed')) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      return timeToEnd(child, program)
    },
    async alone(program, prompt) {
      const home = join(place.folder, `alone-${program.agent}`)
      const env = { ...typedEnvironment(userHome), ...addresses[program.agent](base(program, 'typed')) }
      if (program.agent === 'claude') return claudeAlone({ program: installed.claude, home, workspace, env, prompt })
      if (program.agent !== 'codex') return undefined
      const settings = await readFile(join(userHome, '.codex', 'config.toml'), 'utf8')
      return codexAlone({ program: installed.codex, home, workspace, settings, env, prompt })
    },
  }
}

const key = 'key-of-a-benchmark-0123456789'
const commandOf = ({ agent }: Program, { claude, codexLauncher, gemini, opencode }: InstalledAgents) =>
  ({ claude, codex: codexLauncher, gemini, opencode })[agent]

/** How each is told where its model is; Codex has it in its settings. */
const addresses = {
  claude: (url: string) => ({ ANTHROPIC_BASE_URL: url }),
  codex: () => ({}),
  gemini: (url: string) => ({ GOOGLE_GEMINI_BASE_URL: url }),
  opencode: (url: string) => ({ OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeSettings(url)) }),
}

const opencodeSettings = (baseURL: string) => ({
  model: 'scripted/scripted-model',
  small_model: 'scripted/scripted-model',
  provider: {
    scripted: { npm: '@ai-sdk/openai-compatible', options: { baseURL, apiKey: key }, models: { 'scripted-model': {} } },
  },
  autoupdate: false,
  share: 'disabled',
})

const typedArgs = {
  claude: (prompt: string) => ['-p', prompt, '--output-format', 'stream-json', '--verbose', '--model', 'claude-sonnet-4-5'],
  codex: (prompt: string) => ['exec', '--json', '--skip-git-repo-check', '--disable', 'plugins', '-s', 'workspace-write', prompt],
  gemini: (prompt: string) => ['-p', prompt, '--output-format', 'stream-json', '--model', 'gemini-2.5-flash'],
  opencode: (prompt: string) => ['run', '--format', 'json', prompt],
}

/** The event that ends a turn. */
const lastEvents = { claude: 'result', codex: 'turn.completed', gemini: 'result', opencode: 'step_finish' }

const typedEnvironment = (home: string) => ({
  PATH: process.env.PATH,
  HOME: home,
  // Elsewhere than its home: Codex does without its own sandbox when that lies below the folder for temporary files.
  TMPDIR: join(home, 'tmp'),
  ANTHROPIC_API_KEY: key,
  OPENAI_API_KEY: key,
  GEMINI_API_KEY: key,
  // Looking for updates and sending figures would only make it slower here.
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  // A fresh home asks the registry for packages all the same; a closed port answers at once.
  npm_config_registry: 'http://127.0.0.1:9/',
})

async function makeUserHome(home: string, base: (program: Program) => string): Promise<void> {
  const codex = programs.find((program) => program.agent === 'codex')!
  await mkdir(join(home, '.codex'), { recursive: true })
  await mkdir(join(home, 'tmp'))
  const settings = `model = "${codex.model}"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${base(codex)}"
wire_api = "responses"
env_key = "${codex.keyName}"
`
  await writeFile(join(home, '.codex', 'config.toml'), settings)
  await mkdir(join(home, '.gemini'))
  const gemini = {
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
  }
  await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(gemini))
}

/** The end of the process is waited for too, so that it is not in the way of what is measured next, but does not count. */
async function timeToEnd(child: ChildProcessByStdio<null, Readable, Readable>, { agent }: Program): Promise<number> {
  const since = performance.now()
  const exited = once(child, 'exit')
  let endedMs: number | undefined
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  for await (const line of createInterface({ input: child.stdout })) {
    said += `${line}\n`
    const { type, is_error: isError } = JSON.parse(line) as { type: string; is_error?: boolean }
    if (type === lastEvents[agent] && !isError) endedMs ??= performance.now() - since
  }
  await exited
  if (endedMs === undefined) throw new Error(`${agent} did not succeed:\n${said}`)
  return endedMs
}
