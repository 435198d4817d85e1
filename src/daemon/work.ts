import { hostname } from 'node:os'
import { adapterNamed, adapters, agentCodePaths, programOf } from '../agents/index.ts'
import { systemClock } from '../base/clock.ts'
import { environmentOf, searchPath } from '../config/config.ts'
import { commonCodePaths } from '../domain/workspace/code-paths.ts'
import { sweepLeftovers } from '../engine/auth/clean-up.ts'
import { createLeftovers } from '../engine/auth/cleanup-journal.ts'
import { createOwnBeater, createThreadBeater } from '../engine/beat/beater.ts'
import { createFirstCalls } from '../engine/money/first-calls.ts'
import { createAdmission } from '../engine/queue/admission.ts'
import { createDispatch, type QueueClock } from '../engine/queue/dispatch.ts'
import { createRecovery } from '../engine/queue/recovery.ts'
import { createWorker } from '../engine/queue/worker.ts'
import type { RunParts } from '../engine/run/run.ts'
import { createSettler } from '../engine/run/settle.ts'
import { sweepRun } from '../engine/upkeep/left-temporaries.ts'
import { createPictureShelf } from '../engine/workspace/changes/snapshot-cache.ts'
import { sweepStores } from '../engine/workspace/changes/store-folder.ts'
import { type SettledRun, settleGuardsOf, sweepGuards } from '../engine/workspace/settle-guard.ts'
import type { Gateway } from '../gateway/serving/gateway.ts'
import { sweepRemovedRuns } from '../operations/tasks/delete-task.ts'
import { processIdentity } from '../sandbox/process/identity.ts'
import { openAmong } from '../store/changes.ts'
import { findHalt } from '../store/halt.ts'
import { sessionOfRun } from '../store/runs.ts'
import { tellAll } from '../telemetry/telemetry.ts'
import { createToolServer } from '../tools/mcp/serve.ts'
import { createBackground } from './background.ts'
import { clearUp } from './clear-up.ts'
import type { Ground } from './ground.ts'
import { moneyOf } from './money.ts'
import { createRest } from './rest.ts'

/** Takes up work: the queue, the worker that runs agents, what puts right what the dead left, admission, and all that goes on beside them. */
export async function startWork(
  ground: Ground,
  options: { queueClock: QueueClock | undefined; onDisowned: () => void },
): Promise<void> {
  const { config, clock, log, database, bus, journal, warm, userHome, self, shared, started } = ground
  const leftovers = createLeftovers({
    home: config.home,
    get worker() {
      return self.id
    },
  })
  const settler = createSettler({ journal, bus, clock, log, usageWindows: config.limits.usageWindows })
  const dispatch = createDispatch({ database, worker: self.id, shared, log, clock: options.queueClock })
  await dispatch.start()
  started.add(() => dispatch.stop())

  await sweepRemovedRuns(database.db, config.home)
  await sweepStores(config.home, (tasks) => openAmong(database.db, tasks))
  const logins = adapters.flatMap((adapter) => adapter.login?.files ?? [])
  const codePaths = [...commonCodePaths, ...agentCodePaths]
  const tellSettled = (settled: readonly SettledRun[]) => {
    for (const { run, sentence } of settled)
      if (sentence !== undefined) log.warn('a workspace was put in order after its worker had died', { run, detail: sentence })
  }
  const onBuried = async () => {
    await sweepLeftovers(leftovers, { db: database.db, userHome, logins, log })
    tellSettled(await sweepGuards(config.home, codePaths))
    await clearUp(ground)
  }
  const recovery = createRecovery({
    db: database.db,
    settler,
    dispatch,
    bus,
    clock,
    log,
    get self() {
      return self.id
    },
    onBuried,
    async settleLeft(run) {
      tellSettled(await settleGuardsOf(run, config.home, codePaths))
      const session = await sessionOfRun(database.db, run)
      if (session !== undefined) await sweepRun(config.home, run, session)
    },
  })
  const listeners = ground.telemetry ? [ground.telemetry, ground.metrics] : [ground.metrics]
  let opened: Promise<Gateway> | undefined
  // Where no agent asks for its model through it, it is not loaded.
  const gateway = () => {
    opened ??= import('../gateway/serving/gateway.ts').then(({ createGateway }) => createGateway({ clock }))
    return opened
  }
  started.add(async () => (await opened)?.close())
  const identity = processIdentity()
  // A process that runs tasks of its own is somebody else's program, to end which is not ours.
  const beater =
    clock === systemClock
      ? createThreadBeater({ db: database.db, clock, connection: database.connection, endsHung: shared, log })
      : createOwnBeater(database.db, clock)
  const worker = createWorker({
    identity: {
      get id() {
        return self.id
      },
      host: hostname(),
      bootId: identity.bootId,
      pid: identity.pid,
      startTime: String(identity.startTime),
    },
    slots: () => config.limits.running,
    database,
    beater,
    dispatch,
    journal,
    bus,
    clock,
    log,
    leave: () => recovery.bury(self.id, { died: false }),
    giveBack: recovery.giveBack,
    async onDisowned() {
      // The task of a one-shot is everybody's by now; this process has nothing more to do.
      if (!shared) {
        options.onDisowned()
        return false
      }
      await warm.clear()
      self.renew()
      return true
    },
    run: runParts(ground, { settler, leftovers, codePaths, telemetry: tellAll(listeners), gateway }),
  })
  const admission = createAdmission({
    db: database.db,
    journal,
    dispatch,
    bus,
    clock,
    log,
    limits: config.limits,
    get worker() {
      return self.id
    },
    shared,
  })
  // Programs that wait for a next turn are agents too.
  const endIdle = () =>
    void findHalt(database.db)
      .then((halt) => (halt ? warm.clear() : undefined))
      .catch((error: unknown) => log.warn('idle agent programs were not ended', { error: String(error) }))
  const unhear = bus.on('halt', endIdle)
  started.add(async () => unhear())
  await worker.start()
  started.add(() => warm.stop())
  started.add(() => worker.stop())
  await recovery.start()
  // Somebody may have buried the dead and then died himself.
  await onBuried()
  started.add(() => recovery.stop())
  for (const part of createBackground(ground)) {
    await part.start()
    started.add(() => part.stop())
  }
  const rest = createRest({ clock, isBusy: () => worker.live.size > 0 || warm.list().length > 0 })
  if (rest) {
    const unstir = journal.onStored(rest.stir)
    started.add(async () => {
      unstir()
      rest.stop()
    })
  }
  admission.start()
  started.add(() => admission.stop())
}

/** What a run needs. */
function runParts(
  {
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
    walls,
    probe,
    findings,
    warm,
    blobs,
    servers,
    userHome,
    contexts,
  }: Ground,
  own: Pick<RunParts, 'settler' | 'leftovers' | 'codePaths' | 'telemetry' | 'gateway'>,
): RunParts {
  return {
    ...own,
    contexts,
    db: database.db,
    journal,
    growths,
    doings,
    clock,
    log,
    home: config.home,
    pictures: createPictureShelf(config.home),
    adapterNamed,
    programOf,
    agents: config.agents,
    wallsFor: walls.choose,
    selfTests: walls.selfTests,
    userEnvironment: (user) => config.users[user]?.env,
    path: searchPath(),
    environment: environmentOf,
    userHome,
    probe,
    onFound: findings.note,
    warm,
    async tools(held, { log, run, onListed }) {
      if (!run) return createToolServer(held, { log, onListed })
      const { createRunTools } = await import('../tools/run-tools.ts')
      const ours = createToolServer(held, { log, onListed, more: await createRunTools({ ...run, fetch: held.fetch, clock }) })
      if (!run.servers) return ours
      const { besideOurs } = await import('../tools/servers/run-servers.ts')
      return besideOurs(ours, { ...run.servers, permit: run.permit, log })
    },
    serverTokens: servers.tokens,
    serverHealth: servers.health,
    auditRemote: ({ tool, host, ...act }, { user, task, run }) =>
      audit.record({ by: run, user }, 'ssh', host, { ...act, tool, task }),
    redactor,
    questions: {
      ...config.questions,
      onAnswer: (tell) => bus.on('answered', tell),
      tellAsked: () => bus.tell('asked'),
    },
    secretsFor: secrets.resolve,
    hideKnown: knownSecrets.refresh,
    money: { ...moneyOf(config), firstCalls: createFirstCalls() },
    guardrails: config.guardrails,
    recordings: config.recordings,
    files: { blobs, limits: config.fileLimits },
    get maxQueued() {
      return config.limits.maxQueued
    },
  }
}
