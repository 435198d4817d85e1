import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { adapterNamed, agentCodePaths } from '../agents/index.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { armFailpoints } from '../base/failpoint.ts'
import { type Log, redactedLog } from '../base/log.ts'
import { version } from '../base/version.ts'
import { type Config, environmentOf, searchPath } from '../config/config.ts'
import { parseWhen } from '../config/when.ts'
import { passwordsIn } from '../domain/base/secret-names.ts'
import { messageOf, unavailable } from '../domain/error.ts'
import { rightsOf } from '../domain/profile/resolve.ts'
import { commonCodePaths } from '../domain/workspace/code-paths.ts'
import { type Audit, createAudit } from '../engine/auth/audit.ts'
import { createEntrance, type Entrance } from '../engine/auth/auth.ts'
import { createSecrets, type Secrets } from '../engine/auth/secrets.ts'
import { assertRoom } from '../engine/base/disk-space.ts'
import { createThisWorker } from '../engine/base/this-worker.ts'
import type { Doings } from '../engine/base/working.ts'
import { createSubscribers } from '../engine/delivery/push/subscribers.ts'
import { outboxWriter } from '../engine/delivery/write.ts'
import { createBlobs } from '../engine/files/blobs.ts'
import { createBus } from '../engine/journal/bus.ts'
import { createJournal } from '../engine/journal/journal.ts'
import { createGrowths } from '../engine/journal/live-text.ts'
import { type QueueClock, queueSchemaVersion } from '../engine/queue/dispatch.ts'
import { createProbes } from '../engine/run/probes.ts'
import { createWarm } from '../engine/run/warm.ts'
import { rememberRefused } from '../engine/schedules/refused.ts'
import { rememberFindings } from '../engine/upkeep/findings.ts'
import { type ListenerVerbs, listenerVerbs } from '../operations/listeners.ts'
import { createRuntime, type Runtime, type SelfView } from '../operations/runtime.ts'
import { createRedactor } from '../redact/redactor.ts'
import { processIdentity } from '../sandbox/process/identity.ts'
import { createKeySource } from '../secrets/key-source.ts'
import { insertAudit } from '../store/audit.ts'
import { refuseHalfRestored } from '../store/backup/marker.ts'
import { isStorageBroken } from '../store/database.ts'
import { withLock } from '../store/embedded/lock.ts'
import { migrateStore } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { bindTask } from '../store/tasks.ts'
import { readTaskTextOnThread } from '../task-file/read-on-thread.ts'
import { createContexts } from '../telemetry/contexts.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { otlpVariables } from '../telemetry/settings.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import { awaitStore } from './await-store.ts'
import { conventionalProvider } from './conventional-provider.ts'
import { examine } from './examine.ts'
import type { Conformance, Ground } from './ground.ts'
import { createKnownSecrets } from './known-secrets.ts'
import { createLiveConfig } from './live-config.ts'
import { describeAgent, describeAgents, pickDefaultAgent } from './machine/describe-agents.ts'
import { claimHome, ensureToken, readToken, releaseHome } from './machine/run-file.ts'
import { createMachineWalls, type MachineWalls, tryWalls } from './machine/sandbox.ts'
import { createServers } from './mcp-servers.ts'
import { capsOf, moneyOf } from './money.ts'
import { openSender, recallsOf } from './notifications.ts'
import { serveHttp } from './serve-http.ts'
import { settingsKeeper } from './settings.ts'
import { createStarted, type Started } from './started.ts'
import { tightenHome } from './tighten-home.ts'
import { startWork } from './work.ts'

/** Everything, wired and running. `stop` may be called twice; when it resolves, all of it has stopped. */
export interface Daemon {
  readonly runtime: Runtime
  readonly entrance: Entrance
  readonly audit: Audit
  readonly secrets: Secrets
  /** Addresses that clients want told of single tasks. */
  readonly listeners: ListenerVerbs
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
  /** Others than this machine's, for benchmarks of all that is not the agent's program. */
  readonly walls?: MachineWalls | undefined
  readonly conformance?: Conformance | undefined
}

/** The database and the verbs, without running anything: for commands that only look or ask. */
export async function openRuntime(options: { config: Config; log: Log; clock?: Clock }): Promise<Daemon> {
  return start({ ...options, work: false, http: false, serveShared: false })
}

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  return start({ ...options, work: true })
}

async function start(options: DaemonOptions & { work: boolean }): Promise<Daemon> {
  const { clock = systemClock } = options
  const live = createLiveConfig(options.config)
  const { config } = live
  const redactor = createRedactor()
  const log = redactedLog(options.log, redactor.value)
  const self = createThisWorker(clock)
  const startedAt = new Date(clock.now()).toISOString()
  const started = createStarted(log)
  const stopped = Promise.withResolvers<'asked' | 'disowned'>()
  let isDisowned = false
  const stop = async () => {
    await started.stop()
    stopped.resolve(isDisowned ? 'disowned' : 'asked')
  }

  try {
    await mkdir(config.home, { recursive: true, mode: 0o700 })
    await tightenHome(config.home, log)
    const portAsked = config.sources['server.port'] !== 'default'
    if (options.http) await takeHome(config, { portAsked, started })
    const token = options.http ? await ensureToken(config.home, newToken) : await readToken(config.home)
    redactor.add('home token', token)
    for (const password of passwordsIn(config.database.url ?? '')) redactor.add('database password', password)
    const openOwn = () => openStore({ home: config.home, url: config.database.url, log })
    // Whoever types a command wants to know; what starts with its machine waits.
    const waits = options.serveShared && config.database.url !== undefined
    const store = await (waits ? awaitStore(openOwn, { clock, log }) : openOwn())
    started.add(() => store.close())
    const { database } = store
    armFailpoints(config.failpoints, { databasePid: () => store.serverPid, log })
    await refuseHalfRestored(config.home, database)
    const migrated = await migrateStore(store.database, { now: new Date(clock.now()), queueVersion: queueSchemaVersion })
    if (migrated > 0) log.info('the database schema was brought up to date', { migrations: migrated })

    const bus = createBus({ database, log, self: self.id })
    await bus.start()
    started.add(() => bus.stop())
    const metrics = createMetrics()
    const telemetry = createTelemetry({
      said: environmentOf(otlpVariables),
      version,
      db: database.db,
      providerOf: conventionalProvider,
      clock,
      log,
    })
    if (telemetry) started.add(() => telemetry.stop())
    const contexts = createContexts({ isTelling: telemetry !== undefined })
    const subscribers = createSubscribers({ db: database.db, bus, clock, log, home: config.home })
    await subscribers.start()
    started.add(() => subscribers.stop())
    const journal = createJournal({
      db: database.db,
      bus,
      clock,
      log,
      redact: redactor.value,
      onPublished(events) {
        metrics.stored(events)
        telemetry?.stored(events)
      },
      alongside: outboxWriter(() => [...config.notifications, ...subscribers.all(), ...recallsOf(config)], bus),
      onBroken: (error) => abort(log, error),
    })
    started.add(() => journal.stop())
    const growths = createGrowths({ redactor })
    const doings: Doings = new Map()
    const audit = createAudit({ db: database.db, clock, log, redact: redactor.value })
    if (options.work) audit.start()
    started.add(() => audit.stop())
    const entrance = createEntrance({ db: database.db, clock, log, audit, homeToken: token })
    if (options.work) await entrance.tidy()
    const secrets = createSecrets({
      db: database.db,
      clock,
      keySource: createKeySource(config.secrets.key, { home: config.home, environment: environmentOf }),
      audit: (tx, { caller, action, subject, detail }) => insertAudit(tx, audit.entry(caller, action, subject, detail)),
    })
    const userHome = homedir()
    const knownSecrets = createKnownSecrets({ config, secrets, redactor, userHome, clock, log })
    const walls = options.walls ?? createMachineWalls({ home: config.home, clock, believesEarlier: !options.serveShared })
    // Trying the walls takes a moment; the first run need not wait for it. Whether they hold is asked again, and said, with each run.
    if (options.work) {
      const trying = tryWalls(walls, {
        profiles: config.agents.map(rightsOf),
        staysOn: options.serveShared,
        log,
        isOver: () => started.isStopping,
      })
      started.add(async () => {
        await trying
        if (options.serveShared) (await walls.choose()).sandbox.ahead?.stop()
      })
    }

    const probePlace = { path: searchPath(), home: userHome, environment: environmentOf, untrusted: [config.home] }
    const probe = createProbes({ adapterNamed, clock, place: probePlace })
    const warm = createWarm({ clock, log, most: config.limits.warm, idleMs: config.timeouts.warmMs })
    const stopping = new AbortController()
    started.add(async () => stopping.abort())
    const servers = createServers({ config, clock, log, redactor, database, secrets, walls, signal: stopping.signal })
    const sender = openSender({ contexts, config, clock, redactor, secrets, database, walls, userHome })
    const refusedSchedules = rememberRefused()
    const findings = rememberFindings(clock)
    const blobs = createBlobs({ db: database.db, home: config.home, clock, isShared: store.kind === 'url' })
    const runtime = createRuntime({
      db: database.db,
      journal,
      growths,
      doings,
      bus,
      clock,
      audit,
      home: config.home,
      redactor,
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
      describeAgent: (name) => describeAgent(config, name),
      async describeSelf(): Promise<SelfView> {
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
      refusedSchedules,
      findings,
      limits: config.limits,
      caps: capsOf(config),
      prices: moneyOf(config).prices,
      mcp: servers.parts,
      modelTable: { providers: config.providers, models: config.models },
      environment: environmentOf,
      secretsFor: secrets.resolve,
      questions: config.questions,
      blobs,
      files: config.fileLimits,
      runsNothing: !options.work,
      boundTo: options.work && !options.serveShared ? self.id : null,
      get maxQueued() {
        return config.limits.maxQueued
      },
      settings: settingsKeeper(live),
      examine: (onFinding) => examine(config, onFinding),
      sharedWorkspaces: config.server.workspaces,
      mountBases: config.mounts,
      userMounts: (user) => config.users[user]?.mounts ?? [],
      assertRoom: () => assertRoom(config.home),
      notifications: config.notifications,
      sender,
      backups: {
        database,
        folder: config.backup.folder,
        pawl: version,
        server: { kind: store.kind, version: store.serverVersion },
        hideKnown: knownSecrets.refresh,
        hide: redactor.inPlaceOf,
      },
      subscribers,
      allowsPrivatePush: config.push.allowPrivate,
      allowsPrivateListeners: config.a2a.push.allowPrivate,
      elaborate: config.elaborate,
      readTaskText: readTaskTextOnThread,
      readWhen: parseWhen,
      proving: {
        home: config.home,
        userHome,
        path: searchPath(),
        environment: environmentOf,
        userEnvironment: (user) => config.users[user]?.env,
        secretsFor: secrets.resolve,
        redactor,
        clock,
        codePaths: [...commonCodePaths, ...agentCodePaths],
        wallsFor: walls.choose,
        signal: stopping.signal,
      },
    })

    const listeners = listenerVerbs({
      db: database.db,
      journal,
      clock,
      audit,
      home: config.home,
      allowsPrivateListeners: config.a2a.push.allowPrivate,
    })
    const ground: Ground = {
      config,
      clock,
      log,
      redactor,
      database,
      bus,
      journal,
      growths,
      doings,
      audit,
      secrets,
      knownSecrets,
      sender,
      subscribers,
      listeners,
      walls,
      probe,
      warm,
      blobs,
      servers,
      runtime,
      refusedSchedules,
      findings,
      metrics,
      telemetry,
      contexts,
      userHome,
      self,
      shared: options.serveShared,
      started,
      conformance: options.conformance,
    }
    if (options.work) {
      const onDisowned = () => {
        isDisowned = true
        void stop()
      }
      await startWork(ground, { queueClock: options.queueClock, onDisowned })
    }

    // A daemon knows how they are before the first run wants them; nobody waits for it.
    if (options.http) void servers.lookAtAll()

    const adopt = async (task: string) => {
      await bindTask(database.db, task, self.id)
      bus.tell('admission')
    }
    const daemon = { runtime, entrance, audit, secrets, listeners, adopt, stop, stopped: stopped.promise }
    if (!options.http) return daemon
    const { insecurePlainHttp, tls } = options
    const shutdown = () => void stop()
    return {
      ...daemon,
      url: await serveHttp(ground, { runtime, entrance, portAsked, insecurePlainHttp, tls, homeToken: token, shutdown }),
    }
  } catch (error) {
    await stop()
    throw isStorageBroken(error) ? damaged(error) : error
  }
}

const damaged = (error: unknown) =>
  unavailable(
    `The database is damaged: ${messageOf(error)}. Its disk or file system has lost or changed data. Keep a copy of the home, check the disk, and take the newest backup into a new home: pawl backup ls, then pawl restore FILE --home NEW.`,
    error,
  )

/** One daemon serves a home. One that cannot listen where it was told to has no use for the rest. */
async function takeHome(
  { home, server }: Config,
  { portAsked, started }: { portAsked: boolean; started: Started },
): Promise<void> {
  const lock = join(home, 'daemon.lock')
  await mkdir(lock, { recursive: true, mode: 0o700 })
  const identity = processIdentity()
  await withLock(lock, () => claimHome(home, { ...identity, url: '', version }))
  started.add(() => releaseHome(home, identity.pid))
  if (portAsked && server.port !== 0) await assertPortFree(server.host, server.port)
}

const newToken = () => randomBytes(32).toString('base64url')

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
