import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { adapters } from '../../src/agents/index.ts'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/config.ts'
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Event } from '../../src/domain/event/event.ts'
import type { NewTask, TaskView } from '../../src/domain/view/view.ts'
import { processesOf } from '../../src/sandbox/process/tree.ts'
import { openStore } from '../../src/store/open.ts'
import { readFile } from '../../src/store/session-archive.ts'
import type { GrantRow } from '../../src/store/tables.ts'
import { eventsUntil, isResting, makeHome } from '../engine/home.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type InstalledAgents, installedAgents } from './install.ts'

/** One of the real programs, as a test speaks of it. */
export interface Program<Agent extends string = 'claude' | 'codex'> {
  readonly agent: Agent
  readonly adapter: string
  /** What the kernel calls its process. */
  readonly process: string
  readonly model: string
  /** What stands behind the scenario in the address of the model. */
  readonly api: string
  readonly keyName: string
  /** Where conversations lie in a home. */
  readonly files: string
  /** How the name of such a file ends; `.jsonl` if left out. */
  readonly ending?: string
  /** What the program cannot do, so that nobody can ask it to. */
  readonly lacks?: readonly Lack[]
  /** Another program wraps the one that works. `npm test` plays the beginning of the list with it, `npm run show:real-programs` all. */
  readonly isWrapper?: boolean
  /** It takes seconds to start: three scenarios that start it anew several times, and that the engine decides, are played by `npm run show:real-programs` alone. */
  readonly startsSlowly?: boolean
  /** It is the one that shows every refusal of a model in its wire format. */
  readonly showsRefusals?: boolean
  /** Its options, given the path of each installed program. */
  options(installed: InstalledAgents): Record<string, unknown>
  /** More of its environment. */
  env?(installed: InstalledAgents): Record<string, string>
}
/** `steadyUsage`: it asks its model for something of its own, now and then. */
/** `waiting`: it starts another program of its own, so it is not kept for the next turn. */
export type Lack = 'ownQuestion' | 'structuredOutput' | 'rebuild' | 'steadyUsage' | 'waiting'

export const programs: readonly Program<'claude' | 'codex'>[] = [
  {
    agent: 'claude',
    adapter: 'claude-code',
    process: 'claude',
    model: 'claude-sonnet-4-5',
    api: '',
    keyName: 'ANTHROPIC_API_KEY',
    files: '.claude/projects',
    showsRefusals: true,
    options: ({ claude }) => ({ command: claude }),
  },
  {
    agent: 'codex',
    adapter: 'codex',
    process: 'codex',
    model: 'scripted-model',
    api: '/v1',
    keyName: 'OPENAI_API_KEY',
    files: '.codex/sessions',
    showsRefusals: true,
    options: ({ codex }) => ({ command: codex }),
  },
]

/** Pawl's own loop over a model that Ollama serves: nothing is installed for it. It asks people by the tool at the door. */
export const ollamaLoop: Program<'ollama'> = {
  agent: 'ollama',
  adapter: 'ollama',
  process: 'pawl-ollama',
  model: 'scripted-model',
  api: '',
  keyName: 'OLLAMA_API_KEY',
  files: '.pawl-ollama/sessions',
  showsRefusals: true,
  lacks: ['ownQuestion'],
  options: () => ({}),
}

/** By ACP at first, by one-shot calls once its process is gone. It asks people by the tool at the door. */
export const geminiProgram: Program<'gemini'> = {
  agent: 'gemini',
  adapter: 'gemini-cli',
  process: 'node',
  startsSlowly: true,
  model: 'gemini-2.5-flash',
  api: '',
  keyName: 'GEMINI_API_KEY',
  files: '.gemini/tmp',
  showsRefusals: true,
  lacks: ['ownQuestion', 'structuredOutput'],
  options: ({ gemini }) => ({ command: gemini }),
}

/** Its conversations lie in a database. It asks people by the tool at the door. */
export const opencodeProgram: Program<'opencode'> = {
  agent: 'opencode',
  adapter: 'opencode',
  process: 'opencode',
  startsSlowly: true,
  model: 'scripted-model',
  api: '/v1',
  keyName: 'OPENAI_API_KEY',
  files: '.local/share/opencode',
  ending: '.db',
  lacks: ['ownQuestion', 'structuredOutput'],
  options: ({ opencode }) => ({ command: opencode }),
}

/** Programs of others that speak the Agent Client Protocol, as the settings of an agent would name them. Their own walls are off: they run inside ours. */
export const acpPrograms: readonly Program<'claude-acp' | 'codex-acp' | 'qwen-acp'>[] = [
  {
    agent: 'claude-acp',
    adapter: 'acp',
    process: 'node',
    model: 'claude-sonnet-4-5',
    api: '',
    keyName: 'ANTHROPIC_API_KEY',
    files: '.claude/projects',
    isWrapper: true,
    lacks: ['structuredOutput', 'rebuild', 'waiting'],
    options: ({ claudeAcp }) => ({
      command: claudeAcp,
      modelVariable: 'ANTHROPIC_MODEL',
      baseUrlVariable: 'ANTHROPIC_BASE_URL',
      sessionFiles: ['.claude/projects/*/{session}.jsonl'],
      systemPromptVia: 'meta',
    }),
    env: ({ claude }) => ({
      CLAUDE_CODE_EXECUTABLE: claude,
      CLAUDE_CODE_MAX_RETRIES: '0',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    agent: 'codex-acp',
    adapter: 'acp',
    process: 'node',
    model: 'scripted-model',
    api: '/v1',
    keyName: 'OPENAI_API_KEY',
    files: '.codex/sessions',
    isWrapper: true,
    lacks: ['structuredOutput', 'rebuild', 'ownQuestion', 'waiting'],
    options: ({ codexAcp }) => ({
      command: codexAcp,
      modelVariable: 'SCRIPTED_MODEL',
      mode: 'agent-full-access',
      sessionFiles: ['.codex/sessions/*/*/*/rollout-*-{session}.jsonl'],
    }),
    env: ({ codex }) => ({
      CODEX_PATH: codex,
      CODEX_CONFIG: JSON.stringify({
        model: 'scripted-model',
        model_provider: 'scripted',
        model_providers: {
          scripted: {
            name: 'scripted',
            base_url: '{{PAWL_DOOR_URL}}/model',
            env_key: 'OPENAI_API_KEY',
            wire_api: 'responses',
            request_max_retries: 0,
            stream_max_retries: 0,
          },
        },
        sandbox_mode: 'danger-full-access',
      }),
    }),
  },
  {
    agent: 'qwen-acp',
    adapter: 'acp',
    process: 'node',
    model: 'scripted-model',
    api: '/v1',
    keyName: 'OPENAI_API_KEY',
    files: '.qwen/projects',
    showsRefusals: true,
    isWrapper: true,
    lacks: ['structuredOutput', 'rebuild', 'ownQuestion', 'steadyUsage', 'waiting'],
    options: ({ qwen }) => ({
      command: [qwen, '--acp', '--auth-type', 'openai'],
      modelFlag: '--model',
      mode: 'yolo',
      wire: 'openai-chat',
      keys: ['OPENAI_API_KEY'],
      retries: true,
      baseUrlVariable: 'OPENAI_BASE_URL',
      sessionFiles: ['.qwen/projects/*/chats/{session}.jsonl'],
    }),
    // It would start itself a second time, for more memory than one run needs.
    env: () => ({ QWEN_CODE_NO_RELAUNCH: 'true' }),
  },
]

/** Some programs take ten seconds of a busy core to start. */
export const patienceMs = 75_000

export function programNamed(agent: string): Program<string> {
  const found = [...programs, ollamaLoop, geminiProgram, opencodeProgram, ...acpPrograms].find(
    (program) => program.agent === agent,
  )
  if (!found) throw new Error(`No real program is called ${agent} here.`)
  return found
}

/** A whole Pawl in this process, the real programs, and the scripted model they talk to. */
export interface Machine {
  readonly home: string
  readonly daemon: Daemon
  readonly models: ModelServer
  readonly logged: Record<string, unknown>[]
  agent(program: Program<string>, scenario: string, changes?: Partial<ResolvedAgent>): ResolvedAgent
  /** A folder that the agents' user may write, so that runs work in place. */
  workspace(): Promise<string>
  run(task: Partial<NewTask> & { agentConfig: ResolvedAgent }, wanted?: (event: Event) => boolean): Promise<Ran>
  /** All that the database keeps of a session's files, unpacked. */
  archived(session: string): Promise<string>
  /** As on a machine whose database has lost what it kept of a conversation. */
  forgetArchive(session: string): Promise<void>
  /** Stops Pawl and starts it again on the same home, so many milliseconds later by its own clock. */
  restart(laterMs?: number): Promise<void>
  /** What lives of the program that served a run; it may have been started for an earlier one. */
  processesOf(run: string): Promise<number[]>
  /** What the database keeps of permissions that were given to a task. */
  grants(task: string): Promise<GrantRow[]>
  stop(): Promise<void>
}

export interface Ran {
  readonly task: TaskView
  readonly events: Event[]
}

export async function startMachine(options: { home?: string; database?: string } = {}): Promise<Machine> {
  const own = options.home === undefined ? await makeHome('pawl-real-') : undefined
  const home = own?.path ?? options.home!
  const installed = await installedAgents()
  const models = await startModelServer()
  const logged: Record<string, unknown>[] = []
  const log = createLog({ level: 'debug', format: 'json', now: Date.now, write: (line) => logged.push(JSON.parse(line)) })
  const start = async (laterMs = 0) => {
    const env = { HOME: home, PATH: process.env.PATH, ...(options.database ? { PAWL_DATABASE_URL: options.database } : {}) }
    const config = await loadConfig({ adapters, cwd: home, env, flags: { home } })
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + laterMs }
    return startDaemon({ config, log, clock, http: false, serveShared: true })
  }
  let daemon = await start()
  let keys = 0

  return {
    home,
    get daemon() {
      return daemon
    },
    models,
    logged,
    agent(program, scenario, changes = {}) {
      const key = `${program.agent}-${++keys}`
      return ResolvedAgent.parse({
        name: program.agent,
        adapter: program.adapter,
        model: program.model,
        options: program.options(installed),
        env: { pass: [], set: { [program.keyName]: `key-of-${key}-0123456789`, ...program.env?.(installed) } },
        baseUrl: `${models.base(scenario, key)}${program.api}`,
        graceMs: 2_000,
        timeoutMs: 60_000,
        idleTimeoutMs: 60_000,
        retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
        ...changes,
      })
    },
    async workspace() {
      const path = await mkdtemp(join(tmpdir(), 'pawl-ws-'))
      await chmod(path, 0o777)
      return path
    },
    async run(task, wanted = isResting) {
      const { task: made } = await daemon.runtime.createTask({ prompt: 'first message', ...task }, { by: 'test' })
      const events = await eventsUntil(daemon, made.id, wanted, patienceMs)
      return { task: await daemon.runtime.getTask(made.id), events }
    },
    async archived(session) {
      const store = await openStore({ home, url: options.database, log })
      const { db } = store.database
      const chunks: Buffer[] = []
      for (const file of await db.selectFrom('pawl.session_files').selectAll().where('session_id', '=', session).execute())
        for await (const chunk of readFile(db, file)) chunks.push(chunk)
      await store.close()
      return Buffer.concat(chunks).toString()
    },
    async forgetArchive(session) {
      const store = await openStore({ home, url: options.database, log })
      await sql`delete from pawl.session_files where session_id = ${session}`.execute(store.database.db)
      await store.close()
    },
    async restart(laterMs) {
      await daemon.stop()
      daemon = await start(laterMs)
    },
    async processesOf(run) {
      const store = await openStore({ home, url: options.database, log })
      const row = await store.database.db.selectFrom('pawl.runs').select('kill_unit').where('id', '=', run).executeTakeFirst()
      await store.close()
      return row?.kill_unit ? processesOf(row.kill_unit) : []
    },
    async grants(task) {
      const store = await openStore({ home, url: options.database, log })
      const rows = await store.database.db.selectFrom('pawl.grants').selectAll().where('task_id', '=', task).execute()
      await store.close()
      return rows
    },
    async stop() {
      await daemon.stop()
      await models.close()
      await own?.remove()
    },
  }
}
