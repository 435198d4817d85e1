import { createReadStream } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { z } from 'zod'
import { adapters, presets } from '../agents/index.ts'
import { type Log, silentLog } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { type Config, loadConfig } from '../config/config.ts'
import type { FileSettings } from '../config/schema.ts'
import { type Daemon, startDaemon } from '../daemon/daemon.ts'
import type { TraceContext } from '../domain/base/trace-context.ts'
import type { Event } from '../domain/event/event.ts'
import type { NewTask } from '../domain/view/view.ts'
import { type AgentRun, followRun } from './agent-run.ts'
import { clientOf } from './in-process.ts'

/** Settings as `config.yaml` has them. */
export type Settings = z.input<typeof FileSettings>

export interface PawlOptions {
  /** Where everything is kept; PAWL_HOME or `~/.pawl` if left out. */
  readonly home?: string | undefined
  /** The folder whose `pawl.yaml` counts and in which tasks work that name no workspace; the current one if left out. */
  readonly cwd?: string | undefined
  /** Settings in the place of those in the `config.yaml` of the home. */
  readonly config?: Settings | undefined
  /** Counts the folder's `pawl.yaml` as trusted. */
  readonly trust?: boolean | undefined
  /** Runs the tasks of everybody and fires schedules, as a daemon does. Left out: only what is asked of it. */
  readonly shared?: boolean | undefined
  /** Opens the API on a port as well; 0 for any that is free. */
  readonly port?: number | undefined
  readonly log?: Log | undefined
}

/** What is asked of one task. */
export interface TaskOptions extends Omit<NewTask, 'prompt'> {
  /** Files to go with it: paths, or contents under a name. */
  readonly attach?: readonly (string | { readonly name: string; readonly content: Uint8Array })[] | undefined
  /** Cancels it. */
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: Event) => void) | undefined
  /** The span that asks (W3C Trace Context); those of the task lie below it. */
  readonly trace?: TraceContext | undefined
}

/** An engine in this process. Its verbs are those of the API and of `pawl/client`; `close` it, or declare it with `await using`. */
export interface Pawl extends Omit<Client, 'close' | 'shutdown'>, AsyncDisposable {
  readonly home: string
  /** Where the API is served, if it is. */
  readonly url?: string | undefined
  /** Asks for a task and follows it until it comes to rest. */
  run(prompt: string, options?: TaskOptions): AgentRun
  /** Follows a task that is there, from its beginning. */
  follow(task: string, options?: Pick<TaskOptions, 'signal' | 'onEvent'>): AgentRun
  /** Ends what still runs, as a daemon that is stopped does: it goes on at the next start. May be called twice. */
  close(): Promise<void>
}

/** Opens the engine of a home in this process: its database, its queue, its workers. */
export async function createPawl(options: PawlOptions = {}): Promise<Pawl> {
  const { log = silentLog, port } = options
  const cwd = resolve(options.cwd ?? process.cwd())
  const config = await configOf(options, cwd)
  const daemon = await startDaemon({ config, log, http: port !== undefined, serveShared: options.shared ?? false })
  const client = clientOf(daemon, { log })
  const { shutdown: _, ...verbs } = client
  const close = () => daemon.stop()
  return {
    ...verbs,
    home: config.home,
    url: daemon.url,
    run(prompt, options = {}) {
      const begin = async () => {
        const { attach = [], signal, onEvent: _, trace, ...task } = options
        signal?.throwIfAborted()
        const uploads = attach.length === 0 ? undefined : await handIn(daemon, attach, cwd)
        const attachments = uploads && [...(task.attachments ?? []), ...uploads]
        const wanted = { ...placed(task, cwd), ...agentOf(task, config), ...(attachments && { attachments }), prompt }
        return { client, task: (await client.createTask(wanted, { trace })).task.id }
      }
      return followRun(begin, options)
    },
    follow: (task, options = {}) => followRun(async () => ({ client, task: (await client.getTask(task)).id }), options),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function configOf({ home, config, trust, port }: PawlOptions, cwd: string): Promise<Config> {
  return loadConfig({
    adapters,
    presets,
    cwd,
    ...(config === undefined ? {} : { homeBytes: Buffer.from(JSON.stringify(config)) }),
    flags: { home, trust, port },
  })
}

/** A session goes on where its files are. */
const placed = (task: Omit<NewTask, 'prompt'>, cwd: string) =>
  task.session === undefined && task.workspace === undefined ? { ...task, workspace: cwd } : task

/** As the folder's settings have it, whoever runs it in the end. */
function agentOf(task: Omit<NewTask, 'prompt'>, { agents, defaultAgent }: Config): Pick<NewTask, 'agentConfig'> {
  if (task.agentConfig || (task.session !== undefined && task.agent === undefined)) return {}
  const found = agents.find(({ name }) => name === (task.agent ?? defaultAgent))
  if (!found) return {}
  const { source: _, ...agentConfig } = found
  return { agentConfig }
}

async function handIn({ runtime }: Daemon, files: NonNullable<TaskOptions['attach']>, cwd: string): Promise<string[]> {
  const ids: string[] = []
  for (const file of files) {
    const given =
      typeof file === 'string'
        ? { name: basename(file), content: createReadStream(resolve(cwd, file)) as AsyncIterable<Uint8Array> }
        : { name: file.name, content: once(file.content) }
    ids.push((await runtime.addUpload(given, { by: 'library' })).id)
  }
  return ids
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** An engine for one task, which is closed when that has come to rest. */
export function runOnce(prompt: string, where: PawlOptions, options: TaskOptions): AgentRun {
  const begin = async () => {
    const pawl = await createPawl(where)
    const end = () => pawl.close()
    try {
      return { client: pawl, task: await pawl.run(prompt, { ...options, onEvent: undefined }).id, end }
    } catch (error) {
      await end()
      throw error
    }
  }
  return followRun(begin, options)
}
