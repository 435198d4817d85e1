import { clientSettings } from '../config.ts'
import type { NewTask } from '../domain/view.ts'
import type { Runtime } from '../engine/runtime.ts'
import { findDaemon } from '../run-file.ts'
import type { Cli } from './cli.ts'
import { plain } from './plain.ts'

/** A runtime to talk to: the home's daemon, or one of our own for the time being. */
export interface Connection {
  readonly runtime: Runtime
  readonly isDaemon: boolean
  /** The agent for a task that is asked for in this folder. */
  chooseAgent(named: string | undefined): Promise<Pick<NewTask, 'agent' | 'agentConfig'>>
  /** Has a task that is nobody's run here, if there is no daemon to run it. */
  adopt(task: string): Promise<void>
  /** Calls back if an engine of our own has lost its work to others, who took it for dead. */
  onDisowned(tell: () => void): void
  /** Tells when the daemon that events are read from goes away and when it is back. An engine of our own never does. */
  onDaemon(listen: (state: 'live' | 'away') => void): void
  close(): Promise<void>
}

/** What an engine of our own does: the tasks that are asked of it, or nothing but look and write. */
export type Work = 'own' | 'none'

export interface ConnectOptions {
  readonly work: Work
  /** A new task is asked for, which takes the settings of this folder; everything else works whatever is wrong with them. */
  readonly isForNewTask?: boolean
}

/** Without a daemon the engine is opened in this process; it never opens a port. */
export async function connect(cli: Cli, options: ConnectOptions): Promise<Connection> {
  const { home, agent, projectFile } = await clientSettings({ cwd: cli.cwd, home: cli.globals.home })
  // Whoever names a database wants that one, whatever a daemon of this home uses.
  const daemon = cli.globals.databaseUrl === undefined ? await findDaemon(home) : undefined
  if (daemon) {
    const { remoteRuntime } = await import('./remote.ts')
    let listener: ((state: 'live' | 'away') => void) | undefined
    const runtime = remoteRuntime(daemon, { onState: (state) => listener?.(state) })
    return {
      runtime,
      isDaemon: true,
      async chooseAgent(named) {
        // Without settings of this folder the daemon knows as much as we do, and knows it already.
        if (projectFile === undefined) return { agent: named ?? agent }
        const { readSettings, resolveAgent } = await import('./settings.ts')
        return resolveAgent(cli, await readSettings(cli, { askTrust: true }), named)
      },
      adopt: async () => undefined,
      onDisowned: () => undefined,
      onDaemon: (listen) => {
        listener = listen
      },
      close: async () => runtime.close(),
    }
  }
  const { readSettings, readUsableSettings, resolveAgent } = await import('./settings.ts')
  const { config, problem = undefined } = options.isForNewTask
    ? { config: await readSettings(cli, { askTrust: false }) }
    : await readUsableSettings(cli)
  if (problem !== undefined) cli.say(`pawl: going on without these settings: ${plain(problem)}`)
  const { openRuntime, startDaemon } = await import('../daemon.ts')
  const { ownLog } = await import('./own-log.ts')
  const log = ownLog(cli, config)
  const own =
    options.work === 'none'
      ? await openRuntime({ config, log })
      : await startDaemon({ config, http: false, log, serveShared: false })
  return {
    runtime: own.runtime,
    isDaemon: false,
    async chooseAgent(named) {
      return resolveAgent(cli, config.untrusted ? await readSettings(cli, { askTrust: true }) : config, named)
    },
    adopt: (task) => own.adopt(task),
    onDisowned: (tell) => void own.stopped.then((reason) => reason === 'disowned' && tell()),
    onDaemon: () => undefined,
    close: () => own.stop(),
  }
}

/** Opens a connection for one piece of work and closes it whatever happens. */
export async function withConnection<T>(
  cli: Cli,
  options: ConnectOptions,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(cli, options)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}
