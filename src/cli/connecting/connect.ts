import { clientSettings } from '../../config/config.ts'
import { findDaemon } from '../../daemon/machine/run-file.ts'
import type { AuditVerdict, AuditView } from '../../domain/auth/audit.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import type { NewTask, Page } from '../../domain/view/view.ts'
import type { AuditFilter } from '../../engine/auth/audit.ts'
import type { EntranceVerbs } from '../../engine/auth/auth.ts'
import type { SecretVerbs } from '../../engine/auth/secrets.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { Cli } from '../terminal/cli.ts'
import { plain } from '../text/plain.ts'
import { sayOpenWalls } from './open-sandbox.ts'

/** A runtime to talk to: the home's daemon, or one of our own for the time being. */
export interface Connection {
  readonly runtime: Runtime
  readonly entrance: EntranceVerbs & AuditVerbs
  readonly secrets: SecretVerbs
  readonly isDaemon: boolean
  /** Where the daemon listens, if it is one. */
  readonly url?: string
  /** The agent for a task that is asked for in this folder, with the profile that was named, if one was. */
  chooseAgent(
    named: string | undefined,
    profile?: string | undefined,
  ): Promise<Pick<NewTask, 'agent' | 'agentConfig' | 'profile'>>
  /** Has a task that is nobody's run here, if there is no daemon to run it. */
  adopt(task: string): Promise<void>
  /** Calls back if an engine of our own has lost its work to others, who took it for dead. */
  onDisowned(tell: () => void): void
  /** Tells when the daemon that events are read from goes away and when it is back. An engine of our own never does. */
  onDaemon(listen: (state: 'live' | 'away') => void): void
  close(): Promise<void>
}

export interface AuditVerbs {
  listAudit(filter: AuditFilter): Promise<Page<AuditView>>
  verifyAudit(options: { contains?: string | undefined }): Promise<AuditVerdict>
}

/** What an engine of our own does: the tasks that are asked of it, or nothing but look and write. */
export type Work = 'own' | 'none'

export interface ConnectOptions {
  readonly work: Work
  /** A new task is asked for, which takes the settings of this folder; everything else works whatever is wrong with them. */
  readonly isForNewTask?: boolean
  /** Who asks, as the journal has it; `cli` if left out. */
  readonly name?: string
  /** How long events are waited for at the same address while no daemon answers there. */
  readonly patienceMs?: number
}

/** Without a daemon the engine is opened in this process; it never opens a port. */
export async function connect(cli: Cli, options: ConnectOptions): Promise<Connection> {
  const daemon = await connectToDaemon(cli, options)
  if (daemon) return daemon
  const { readSettings, readUsableSettings, resolveAgent } = await import('./settings.ts')
  const { config, problem = undefined } = options.isForNewTask
    ? { config: await readSettings(cli, { askTrust: false }) }
    : await readUsableSettings(cli)
  if (problem !== undefined) cli.say(`pawl: going on without these settings: ${plain(problem)}`)
  const { openRuntime, startDaemon } = await import('../../daemon/daemon.ts')
  const { ownLog } = await import('../terminal/own-log.ts')
  const log = ownLog(cli, config)
  const own =
    options.work === 'none'
      ? await openRuntime({ config, log })
      : await startDaemon({ config, http: false, log, serveShared: false })
  return {
    runtime: own.runtime,
    secrets: own.secrets,
    entrance: { ...own.entrance, listAudit: own.audit.list, verifyAudit: own.audit.verify },
    isDaemon: false,
    async chooseAgent(named, profile) {
      return resolveAgent(cli, config.untrusted ? await readSettings(cli, { askTrust: true }) : config, named, profile)
    },
    adopt: (task) => own.adopt(task),
    onDisowned: (tell) => void own.stopped.then((reason) => reason === 'disowned' && tell()),
    onDaemon: () => undefined,
    close: () => own.stop(),
  }
}

/** The living daemon of the home, whether or not it answers; undefined if there is none. */
export async function connectToDaemon(cli: Cli, options: ConnectOptions): Promise<Connection | undefined> {
  const { home, agent, projectFile } = await clientSettings({ cwd: cli.cwd, ...cli.globals })
  // Whoever names a database wants that one, whatever a daemon of this home uses.
  const daemon = cli.globals.databaseUrl === undefined ? await findDaemon(home) : undefined
  if (!daemon) return undefined
  const { remoteRuntime } = await import('./remote.ts')
  let listener: ((state: 'live' | 'away') => void) | undefined
  const runtime = remoteRuntime(daemon, { onState: (state) => listener?.(state), ...options })
  return {
    runtime,
    entrance: { ...runtime, createSignInCode: (_, how) => runtime.createSignInCode(how) },
    secrets: runtime,
    isDaemon: true,
    url: daemon.url,
    async chooseAgent(named, profile) {
      // Without settings of this folder the daemon knows as much as we do, and knows it already.
      if (projectFile === undefined) {
        if (profile !== undefined) await announceProfile(cli, runtime, profile)
        return { agent: named ?? agent, profile }
      }
      const { readSettings, resolveAgent } = await import('./settings.ts')
      return resolveAgent(cli, await readSettings(cli, { askTrust: true }), named, profile)
    },
    adopt: async () => undefined,
    onDisowned: () => undefined,
    onDaemon: (listen) => {
      listener = listen
    },
    close: async () => runtime.close(),
  }
}

/** Says so if the daemon's profile of that name has no walls. One that is not there was named on the command line: a mistake of usage. */
async function announceProfile(cli: Cli, runtime: Runtime, profile: string): Promise<void> {
  try {
    sayOpenWalls(cli, await runtime.getProfile(profile))
  } catch (error) {
    throw error instanceof PawlError && error.code === 'not_found' ? invalid(error.message) : error
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
