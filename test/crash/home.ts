import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { silentLog } from '../../src/base/log.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { PawlError } from '../../src/domain/error.ts'
import { connectionTo } from '../../src/store/embedded/holder.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { livingPostmaster } from '../../src/store/embedded/postmaster.ts'
import { type EmbeddedServer, openEmbedded } from '../../src/store/embedded/server.ts'
import { bundle } from '../bundle.ts'
import { giveDatabase } from '../engine/ready-database.ts'
import { type SilentProxy, silentProxy } from '../silent-proxy.ts'
import type { Arm, Silenced, Told } from './daemon.ts'
import type { Kind } from './scenario.ts'

const startWithinMs = 20_000
export const firedFile = 'fired'
/** How the names of files begin that are there while somebody makes trouble. */
export const troubleFile = 'trouble'

/** A home of its own with a daemon that is started again whenever it dies, as a service manager would. */
export class CrashHome {
  readonly dir = mkdtempSync(join(tmpdir(), 'pawl-crash-'))
  /** Failpoints that the next starts of the daemon hold from their first moment, one per start. */
  readonly nextStarts: Arm[] = []
  starts = 0
  /** What the tasks of earlier crashes looked like when they had come to rest. */
  atRest: ReadonlyMap<string, string> = new Map()
  /** What the next starts find in their environment besides what every process has. */
  readonly environment: Record<string, string> = {}
  /** False while a test wants to see what others make of a dead daemon. */
  startsAgain = true
  /** How much longer everything may take: what is troubled is slow. */
  patienceMs = 0
  readonly #isFresh: boolean
  readonly #isBehindProxy: boolean
  /** Where its database lies, if not in it. */
  #databaseHome: string | undefined
  #proxy: SilentProxy | undefined
  #server: EmbeddedServer | undefined
  readonly #userFolders = realpathSync.native(mkdtempSync(join(tmpdir(), 'pawl-crash-user-')))
  #entry = ''
  #dropDatabase: (() => void) | undefined
  #current: ChildProcess | undefined
  #client: Promise<Client> | undefined
  #closing = false
  #restarting: Promise<void> | undefined

  /** `fresh`: its first start makes the database too. `behindProxy`: its database is another's, by way of a network that can fall silent. */
  constructor(options: { fresh?: boolean; behindProxy?: boolean } = {}) {
    this.#isFresh = options.fresh ?? false
    this.#isBehindProxy = options.behindProxy ?? false
  }

  async start(): Promise<void> {
    this.#entry = (await bundle()).crashDaemon
    if (this.#isBehindProxy) await this.#openNetwork()
    else if (!this.#isFresh) this.#dropDatabase ??= await giveDatabase(this.dir)
    process.on('exit', this.#abandon)
    await this.#launch()
  }

  async #openNetwork(): Promise<void> {
    if (this.#proxy) return
    this.#databaseHome = mkdtempSync(join(tmpdir(), 'pawl-crash-database-'))
    this.#dropDatabase = await giveDatabase(this.#databaseHome)
    this.#server = await openEmbedded({ home: this.#databaseHome, log: silentLog })
    const { host, port, user, database } = this.#server.connection
    this.#proxy = await silentProxy({ path: `${host}/.s.PGSQL.${port}` })
    this.environment.PAWL_DATABASE_URL = `postgres://${user}@127.0.0.1:${this.#proxy.port}/${database}`
  }

  /** Ends what silent connections still hold in the server. */
  giveUpSilent(): void {
    this.#proxy?.giveUp()
  }

  get #layout() {
    return layoutOf(this.#databaseHome ?? this.dir)
  }

  /** The test ends in the middle of something: the server is nobody's child and would stay. */
  readonly #abandon = () => {
    this.#closing = true
    this.killDaemon()
    this.killDatabase()
    this.#dropDatabase?.()
  }

  /** The failpoints that were reached, in their order. */
  get fired(): string[] {
    const file = join(this.dir, firedFile)
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  }

  get pid(): number {
    if (this.#current?.pid === undefined) throw new Error('no daemon is running')
    return this.#current.pid
  }

  /** Resolves when the running daemon holds the failpoint. */
  async arm(point: Arm): Promise<void> {
    for (;;) {
      await this.settled()
      const daemon = this.#current
      if (!daemon?.connected) continue
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const hear = (told: Told) => 'armed' in told && resolve(true)
      const gone = () => resolve(false)
      daemon.on('message', hear).once('exit', gone)
      daemon.send(point)
      const isArmed = await promise
      daemon.off('message', hear).off('exit', gone)
      if (isArmed) return
    }
  }

  killDaemon(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#current?.kill(signal)
  }

  killDatabase(): void {
    const pid = livingPostmaster(this.#layout)
    // Its processes may stand still, and would not notice.
    for (const one of pid === undefined ? [] : [...childrenOf(pid), pid]) killIfThere(one)
  }

  /** Resolves when the running daemon has ended. */
  async gone(): Promise<void> {
    const daemon = this.#current
    if (daemon && daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit')
  }

  /** SIGKILL to the daemon, and back when the next one is ready. */
  async restart(): Promise<void> {
    await this.settled()
    const dead = this.#current!
    const gone = once(dead, 'exit')
    this.killDaemon()
    await gone
    while (this.#current === dead) await pause(1)
    await this.settled()
  }

  /** Resolves when no start is under way. */
  async settled(): Promise<void> {
    while (this.#restarting) await this.#restarting
  }

  /** Asks the daemon, through restarts and outages, until it answers with anything but "unavailable". */
  async ask<T>(work: (client: Client) => Promise<T>, withinMs = 30_000): Promise<T> {
    const deadline = performance.now() + withinMs + this.patienceMs
    for (;;) {
      try {
        return await work(await this.client())
      } catch (error) {
        if (!(error instanceof PawlError) || error.code !== 'unavailable' || performance.now() > deadline) throw error
        await pause(30)
      }
    }
  }

  async client(): Promise<Client> {
    await this.settled()
    if (!this.#client) throw new Error('no daemon was started')
    return this.#client
  }

  /** The second worker of this home: an engine without HTTP in a process of its own. */
  async startWorker(): Promise<ChildProcess> {
    const worker = this.#spawn('worker')
    await ready(worker, this.dir)
    return worker
  }

  /** A process that runs one task of its own, tagged `oneshot`, as `pawl run` without a daemon does. */
  startOneShot(kind: Kind, arm?: Arm): ChildProcess {
    return this.#spawn('oneshot', arm, kind)
  }

  async query<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
    const client = new pg.Client(connectionTo(this.#layout))
    await client.connect()
    try {
      return (await client.query<T>(text)).rows
    } finally {
      await client.end()
    }
  }

  /** The processes of the embedded server, its own first. */
  databaseProcesses(): number[] {
    const pid = livingPostmaster(this.#layout)
    return pid === undefined ? [] : [pid, ...childrenOf(pid)]
  }

  log(): string {
    return readFileSync(join(this.dir, 'daemon.log'), 'utf8')
  }

  /** A folder of the user's, outside of the home, with a file in it. */
  userFolder(name: string): string {
    const folder = join(this.#userFolders, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'users.txt'), "the user's")
    return folder
  }

  /** Stops everything of this home; its folder stays if asked, for whoever must look at it. */
  async close(options: { keep?: boolean } = {}): Promise<void> {
    await this.settled().catch(() => undefined)
    this.#closing = true
    process.off('exit', this.#abandon)
    const daemon = this.#current
    if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
      const gone = once(daemon, 'exit')
      daemon.kill('SIGTERM')
      const force = setTimeout(() => daemon.kill('SIGKILL'), 15_000)
      await gone
      clearTimeout(force)
    }
    if (!options.keep) {
      this.#proxy?.close()
      await this.#server?.release()
      this.killDatabase()
      const others = this.#databaseHome === undefined ? [] : [this.#databaseHome]
      for (const folder of [this.dir, this.#userFolders, ...others])
        rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      this.#dropDatabase?.()
    }
  }

  #spawn(role: 'serve' | 'worker' | 'oneshot', arm?: Arm, kind: Kind | '' = ''): ChildProcess {
    const log = openSync(join(this.dir, 'daemon.log'), 'a')
    try {
      const { PATH = '', HOME = '' } = process.env
      // Most of a start is compiling the same sources again; this is where Node itself would keep them by default.
      const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')
      const args = [this.#entry, this.dir, role, kind, arm ? JSON.stringify(arm) : '']
      const daemon = spawn(process.execPath, args, {
        env: { PATH, HOME, NODE_COMPILE_CACHE, ...this.environment },
        stdio: ['ignore', log, log, 'ipc'],
      })
      daemon.on('message', (told: Told) => {
        if (!('silence' in told)) return
        this.#proxy?.silence()
        daemon.send({ isSilent: true } satisfies Silenced)
      })
      return daemon
    } finally {
      closeSync(log)
    }
  }

  /** Starts a daemon; one that dies at its start, because it was killed a second time or its database was, is followed by another. */
  async #launch(tries = 1): Promise<void> {
    const point = this.nextStarts.shift()
    const daemon = this.#spawn('serve', point)
    this.#current = daemon
    this.starts++
    let isUp = false
    daemon.once('exit', () => {
      if (this.#closing || !isUp || !this.startsAgain) return
      const restarting = this.#launch(5).finally(() => {
        if (this.#restarting === restarting) this.#restarting = undefined
      })
      this.#restarting = restarting
      restarting.catch(() => undefined)
    })
    try {
      const url = await ready(daemon, this.dir)
      isUp = true
      const token = readFileSync(join(this.dir, 'token'), 'utf8').trim()
      this.#client = Promise.resolve(createClient({ url, token }))
    } catch (error) {
      const wasMeant = point !== undefined && this.fired.at(-1) === point.name
      if (wasMeant || tries > 1) return this.#launch(wasMeant ? tries : tries - 1)
      throw error
    }
  }
}

export function childrenOf(parent: number): number[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return names.filter((pid) => parentOf(pid) === parent).map(Number)
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function ready(daemon: ChildProcess, dir: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the daemon ${why}; its log is ${join(dir, 'daemon.log')}`))
    const timer = setTimeout(() => fail(`was not ready within ${startWithinMs / 1000} s`), startWithinMs)
    daemon.on('message', (told: Told) => {
      if (!('ready' in told)) return
      clearTimeout(timer)
      resolve(told.ready)
    })
    daemon.once('exit', (code, signal) => {
      clearTimeout(timer)
      fail(`ended at its start (${signal ?? code})`)
    })
  })
}
