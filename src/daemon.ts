import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { adapterNamed, adapters, agentCodePaths } from './agents/index.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Config, environmentOf, searchPath } from './config.ts'
import { describeAgents, pickDefaultAgent } from './describe.ts'
import { commonCodePaths } from './domain/code-paths.ts'
import { unavailable } from './domain/error.ts'
import { newId } from './domain/id.ts'
import { rightsOf } from './domain/profile/resolve.ts'
import { passwordsIn } from './domain/redact/names.ts'
import { createRedactor } from './domain/redact/redactor.ts'
import type { HealthView } from './domain/view.ts'
import { createLeftovers } from './engine/access/leftovers.ts'
import { sweepLeftovers } from './engine/access/sweep-leftovers.ts'
import { createAdmission } from './engine/admission.ts'
import { createBus } from './engine/bus.ts'
import { createDispatch, type QueueClock, queueSchemaVersion } from './engine/dispatch.ts'
import { type Audit, createAudit } from './engine/entrance/audit.ts'
import { createDenials } from './engine/entrance/denials.ts'
import { createEntrance, type Entrance } from './engine/entrance/entrance.ts'
import { createJournal } from './engine/journal.ts'
import { createProbes } from './engine/program/probes.ts'
import { createWarm } from './engine/program/warm.ts'
import { createRecovery } from './engine/recovery.ts'
import { assertRoom } from './engine/room.ts'
import { createRuntime, type Runtime } from './engine/runtime.ts'
import { createSecrets, type Secrets } from './engine/secrets.ts'
import { createSettler } from './engine/settle.ts'
import { createWorker } from './engine/worker.ts'
import { sweepGuards } from './engine/workspace/settle-guard.ts'
import { armFailpoints } from './failpoint.ts'
import { type Log, redactedLog } from './log.ts'
import { isAlive, processIdentity } from './process/identity.ts'
import { claimHome, ensureToken, findDaemon, publishRunFile, readToken, releaseHome } from './run-file.ts'
import { createKeySource } from './secrets/key-source.ts'
import { insertAudit } from './store/audit.ts'
import { withLock } from './store/embedded/lock.ts'
import { stopEmbedded } from './store/embedded/server.ts'
import { findHalt } from './store/halt.ts'
import { migrateStore } from './store/migrate.ts'
import { openStore } from './store/open.ts'
import { bindTask } from './store/tasks.ts'
import { createToolServer } from './tools/serve.ts'
import { version } from './version.ts'
import { createMachineWalls, type MachineWalls } from './walls.ts'

/** Everything, wired and running. `stop` may be called twice; when it resolves, all of it has stopped. */
export interface Daemon {
  readonly runtime: Runtime
  readonly entrance: Entrance
  readonly audit: Audit
  readonly secrets: Secrets
  readonly url?: string
  /** Has a task that is nobody's run by this process. */
  adopt(task: string): Promise<void>
  stop(): Promise<void>
  /** Resolves when it has stopped: because it was asked to, or because others have declared this process dead and taken its work. */
  readonly stopped: Promise<'asked' | 'disowned'>
}

export interface DaemonOptions {
  readonly config: Config
  readonly log: Log
  /** Serve the API on a port. */
  readonly http: boolean
  /** Run everybody's tasks, or only those asked of this process. */
  readonly serveShared: boolean
  readonly insecurePlainHttp?: boolean
  /** Certificate chain and key as PEM. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  readonly clock?: Clock
  /** pg-boss's own clock, for tests that move both. */
  readonly queueClock?: QueueClock
}

/** The database and the verbs, without running anything: for commands that only look or ask. */
export async function openRuntime(options: { config: Config; log: Log; clock?: Clock }): Promise<Daemon> {
  return start({ ...options, work: false, http: false, serveShared: false })
}

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  return start({ ...options, work: true })
}

async function start(options: DaemonOptions & { work: boolean }): Promise<Daemon> {
  const { config, clock = systemClock } = options
  const redactor = createRedactor()
  const log = redactedLog(options.log, redactor.value)
  const self = newId('worker', clock.now())
  const identity = processIdentity()
  const startedAt = new Date(clock.now()).toISOString()
  const closers: (() => Promise<unknown>)[] = []
  const stopped = Promise.withResolvers<'asked' | 'disowned'>()
  let isDisowned = false
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= (async () => {
      // What was started last is stopped first; one that fails to stop does not keep the others from it.
      for (const close of closers.toReversed())
        await close().catch((error: unknown) => log.error('a part did not stop cleanly', { error: String(error) }))
      stopped.resolve(isDisowned ? 'disowned' : 'asked')
    })()
    return stopping
  }

  try {
    await mkdir(config.home, { recursive: true, mode: 0o700 })
    if (options.http) {
      const lock = join(config.home, 'daemon.lock')
      await mkdir(lock, { recursive: true, mode: 0o700 })
      await withLock(lock, () => claimHome(config.home, { ...identity, url: '', version }))
      closers.push(() => releaseHome(config.home, identity.pid))
    }
    const { host, port } = config.server
    const portAsked = config.sources['server.port'] !== 'default'
    if (options.http && portAsked && port !== 0) await assertPortFree(host, port)
    const token = options.http ? await ensureToken(config.home, newToken) : await readToken(config.home)
    redactor.add('home token', token)
    for (const password of passwordsIn(config.database.url ?? '')) redactor.add('database password', password)
    const store = await openStore({ home: config.home, url: config.database.url, log })
    closers.push(() => store.close())
    const { database } = store
    armFailpoints(config.failpoints, { databasePid: () => store.serverPid, log })
    const migrated = await migrateStore(store.database, { now: new Date(clock.now()), queueVersion: queueSchemaVersion })
    if (migrated > 0) log.info('the database schema was brought up to date', { migrations: migrated })

    const bus = createBus({ database, log, self })
    await bus.start()
    closers.push(() => bus.stop())
    const journal = createJournal({
      db: database.db,
      bus,
      clock,
      log,
      redact: redactor.value,
      onBroken: (error) => abort(log, error),
    })
    closers.push(() => journal.stop())
    const audit = createAudit({ db: database.db, clock, log, redact: redactor.value })
    if (options.work) audit.start()
    closers.push(() => audit.stop())
    const entrance = createEntrance({ db: database.db, clock, log, audit, homeToken: token })
    if (options.work) await entrance.tidy()
    const secrets = createSecrets({
      db: database.db,
      clock,
      keySource: createKeySource(config.secrets.key, { home: config.home, environment: environmentOf }),
      audit: (tx, { caller, action, subject, detail }) => insertAudit(tx, audit.entry(caller, action, subject, detail)),
    })
    const walls = createMachineWalls({ home: config.home, clock, believesEarlier: !options.serveShared })
    // Trying the walls takes a moment; the first run need not wait for it. Whether they hold is asked again, and said, with each run.
    if (options.work) {
      const trying = tryWalls(walls, config, log, () => stopping !== undefined)
      closers.push(() => trying)
    }

    const userHome = homedir()
    const probePlace = { path: searchPath(), home: userHome, environment: environmentOf, untrusted: [config.home] }
    const probe = createProbes({ adapterNamed, clock, place: probePlace })
    const warm = createWarm({ clock, log, most: config.limits.warm, idleMs: config.timeouts.warmMs })
    const runtime = createRuntime({
      db: database.db,
      journal,
      bus,
      clock,
      audit,
      home: config.home,
      adapterNamed,
      probe,
      userHome,
      async agentUser() {
        const { health } = await walls.choose()
        return health.enforced ? health.user : undefined
      },
      agents: config.agents,
      profiles: config.profiles,
      ground: { env: config.env },
      defaultAgent: () => pickDefaultAgent(config),
      describeAgents: () => describeAgents(config),
      async describeSelf(): Promise<Omit<HealthView, 'tasks' | 'halt'>> {
        const { sandbox, health } = await walls.choose()
        return {
          version,
          home: config.home,
          pid: process.pid,
          startedAt,
          database: { kind: store.kind, version: store.serverVersion },
          walls: {
            name: sandbox.name,
            enforced: health.enforced,
            detail: health.detail,
            fix: health.fix ?? null,
            selfTests: [...walls.views()].map((test) => ({ ...test, canaries: [...test.canaries] })),
          },
          warm: warm.list(),
        }
      },
      limits: config.limits,
      boundTo: options.work && !options.serveShared ? self : null,
      maxQueued: config.limits.maxQueued,
      sharedWorkspaces: config.server.workspaces,
      assertRoom: () => assertRoom(config.home),
    })

    if (options.work) {
      const leftovers = createLeftovers({ home: config.home, worker: self })
      const settler = createSettler({ journal, bus, clock, log })
      const dispatch = createDispatch({ database, worker: self, shared: options.serveShared, log, clock: options.queueClock })
      await dispatch.start()
      closers.push(() => dispatch.stop())
      const logins = adapters.flatMap((adapter) => adapter.login?.files ?? [])
      const codePaths = [...commonCodePaths, ...agentCodePaths]
      const onBuried = async () => {
        await sweepLeftovers(leftovers, { db: database.db, userHome, logins, log })
        for (const { run, sentence } of await sweepGuards(config.home, codePaths))
          if (sentence !== undefined)
            log.warn('a workspace was put in order after its worker had died', { run, detail: sentence })
      }
      const recovery = createRecovery({ db: database.db, settler, dispatch, bus, clock, log, self, onBuried })
      const worker = createWorker({
        identity: {
          id: self,
          host: hostname(),
          bootId: identity.bootId,
          pid: identity.pid,
          startTime: String(identity.startTime),
        },
        slots: config.limits.running,
        database,
        dispatch,
        journal,
        bus,
        clock,
        log,
        leave: () => recovery.bury(self),
        giveBack: recovery.giveBack,
        onDisowned: () => {
          isDisowned = true
          void stop()
        },
        run: {
          db: database.db,
          journal,
          settler,
          clock,
          log,
          home: config.home,
          adapterNamed,
          wallsFor: walls.choose,
          selfTests: walls.selfTests,
          codePaths,
          userEnvironment: (user) => config.users[user]?.env,
          path: searchPath(),
          environment: environmentOf,
          userHome,
          probe,
          warm,
          leftovers,
          async tools(held, { log, run }) {
            if (!run) return createToolServer(held, { log })
            const { createRunTools } = await import('./tools/run-tools.ts')
            return createToolServer(held, { log, more: await createRunTools({ ...run, fetch: held.fetch, clock }) })
          },
          auditRemote: ({ tool, host, ...act }, { user, task, run }) =>
            audit.record({ by: run, user }, 'ssh', host, { ...act, tool, task }),
          redactor,
          secretsFor: secrets.resolve,
        },
      })
      const admission = createAdmission({
        db: database.db,
        journal,
        dispatch,
        bus,
        clock,
        log,
        limits: config.limits,
        worker: self,
        shared: options.serveShared,
      })
      // Programs that wait for a next turn are agents too.
      const endIdle = () =>
        void findHalt(database.db)
          .then((halt) => (halt ? warm.clear() : undefined))
          .catch((error: unknown) => log.warn('idle agent programs were not ended', { error: String(error) }))
      const unhear = bus.on('halt', endIdle)
      closers.push(async () => unhear())
      await worker.start()
      closers.push(() => warm.stop())
      closers.push(() => worker.stop())
      await recovery.start()
      // Somebody may have buried the dead and then died himself.
      await onBuried()
      closers.push(() => recovery.stop())
      admission.start()
      closers.push(() => admission.stop())
    }

    const adopt = async (task: string) => {
      await bindTask(database.db, task, self)
      bus.tell('admission')
    }
    if (!options.http) return { runtime, entrance, audit, secrets, adopt, stop, stopped: stopped.promise }
    const { createHttpSurface } = await import('./surfaces/http/server.ts')
    const { createAccessLog } = await import('./surfaces/http/access-log.ts')
    const accessLog = createAccessLog({ file: join(config.home, 'access.log'), log })
    closers.push(async () => accessLog.close())
    const denials = createDenials({ audit, clock, log })
    closers.push(() => denials.stop())
    const surface = createHttpSurface({
      runtime,
      entrance,
      audit,
      secrets,
      accessLog,
      onDenied: denials.note,
      log,
      version,
      clock,
      allowedHosts: config.server.allowedHosts,
      shutdown: () => void stop(),
    })
    const { url } = await surface.start({ host, port, portAsked, insecurePlainHttp: options.insecurePlainHttp, tls: options.tls })
    closers.push(() => surface.stop())
    const certificate = options.tls ? { certificate: options.tls.cert } : {}
    await publishRunFile(config.home, { ...identity, url, version, ...certificate })
    return { runtime, entrance, audit, secrets, url, adopt, stop, stopped: stopped.promise }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Every profile that an agent has, so that the first run does not wait for it and a hole is known before anybody asks for work. */
async function tryWalls(walls: MachineWalls, config: Config, log: Log, isOver: () => boolean): Promise<void> {
  try {
    if (!(await walls.choose()).health.enforced) return
    for (const profile of config.agents.map(rightsOf)) {
      if (!profile.walls) continue
      if (isOver()) return
      const test = await walls.selfTests.forProfile(profile)
      if (!test.passed)
        log.error('the walls do not hold', { profile: profile.name, escaped: test.escaped, failure: test.failure })
    }
  } catch (error) {
    log.error('the walls could not be tried', { error: String(error) })
  }
}

const newToken = () => randomBytes(32).toString('base64url')

/** Stops the daemon of a home, then its database. Tasks that run go back to the queue. */
export async function stopEverything(
  home: string,
): Promise<{ daemon: 'stopped' | 'not_running'; database: 'stopped' | 'not_running' }> {
  const daemon = await findDaemon(home)
  if (daemon) {
    const { createClient } = await import('./client/index.ts')
    const client = createClient(daemon)
    // One that does not answer is asked by signal; its own handler stops it the same way.
    await client.shutdown().catch(() => process.kill(daemon.pid, 'SIGTERM'))
    for (let waitedMs = 0; isAlive(daemon) !== false; waitedMs += 50) {
      if (waitedMs > 20_000)
        throw unavailable(`The daemon (pid ${daemon.pid}) did not stop within 20 s; end it with: kill -9 ${daemon.pid}`)
      await new Promise((again) => setTimeout(again, 50))
    }
  }
  return { daemon: daemon ? 'stopped' : 'not_running', database: await stopEmbedded(home) }
}

/** Before anything is made: a daemon that cannot listen where it was told to has no use for the rest. */
function assertPortFree(host: string, port: number): Promise<void> {
  return new Promise((done, fail) => {
    const trial = createServer()
    trial.once('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'EADDRINUSE'
          ? unavailable(`Port ${port} is taken; choose another with --port, or stop the program that has it.`, error)
          : error,
      ),
    )
    trial.listen({ host, port, exclusive: true }, () => trial.close(() => done()))
  })
}

/** Storage that fails under the database is not something to reason about: stop, and let recovery begin from what is on disk. */
function abort(log: Log, error: unknown): never {
  log.error('the storage under the database fails; Pawl stops rather than guess', {
    error: String(error),
    reason: 'storage_broken',
  })
  process.exit(1)
}
