import { hostname } from 'node:os'
import { join } from 'node:path'
import { PgBoss } from 'pg-boss'
import { adapterNamed, agentCodePaths } from '../src/agents/index.ts'
import { systemClock as clock } from '../src/base/clock.ts'
import { silentLog as log } from '../src/base/log.ts'
import { ResolvedAgent } from '../src/domain/agent/agent-config.ts'
import { defaultFileLimits } from '../src/domain/files/limits.ts'
import { newId } from '../src/domain/id.ts'
import { createPrices } from '../src/domain/money/prices.ts'
import { defaultQuestions } from '../src/domain/question/settings.ts'
import { defaultGuardrails } from '../src/domain/run/guardrails.ts'
import { commonCodePaths } from '../src/domain/workspace/code-paths.ts'
import { createLeftovers } from '../src/engine/auth/cleanup-journal.ts'
import { createOwnBeater } from '../src/engine/beat/beater.ts'
import { createBlobs } from '../src/engine/files/blobs.ts'
import { createBus } from '../src/engine/journal/bus.ts'
import { createJournal } from '../src/engine/journal/journal.ts'
import { createAdmission } from '../src/engine/queue/admission.ts'
import { createDispatch } from '../src/engine/queue/dispatch.ts'
import { createRecovery } from '../src/engine/queue/recovery.ts'
import { createWorker } from '../src/engine/queue/worker.ts'
import { createProbes } from '../src/engine/run/probes.ts'
import { createSettler } from '../src/engine/run/settle.ts'
import { createWarm } from '../src/engine/run/warm.ts'
import { createPictureShelf } from '../src/engine/workspace/changes/snapshot-cache.ts'
import { createRedactor } from '../src/redact/redactor.ts'
import { processIdentity } from '../src/sandbox/process/identity.ts'
import { openDatabase } from '../src/store/database.ts'
import { openEmbedded } from '../src/store/embedded/server.ts'
import { migrate } from '../src/store/migrate.ts'
import { insertTask } from '../src/store/tasks.ts'
import { type Benchmark, type Figure, inParallel, interleave, median, perSecond, rate, timed } from './figure.ts'
import { nothing } from './nothing.ts'
import { inPlace, type Place } from './place.ts'

const rounds = 5
const perRound = 200
const widths = [4, 1, 32]

export const benchmark: Benchmark = {
  about: 'runs without a process: every state move, event and file; against one worker of pg-boss that fetches and completes',
  async measure({ say }) {
    const figures: Figure[] = []
    for (const width of widths) {
      figures.push(
        await inPlace(async (place) => {
          const engine = await startEngine(place, width)
          const boss = new PgBoss({
            db: { executeSql: (text, values) => engine.pool.query(text, values as unknown[]) },
            schema: 'bench_boss',
            schedule: false,
            supervise: false,
          })
          boss.on('error', (error) => say(String(error)))
          await boss.start()
          await boss.createQueue('noop')
          const cpu = { ours: 0 }
          const sides = await interleave(
            rounds,
            async () => {
              const before = process.cpuUsage()
              const spent = await engine.run(perRound)
              const used = process.cpuUsage(before)
              cpu.ours += (used.user + used.system) / 1000
              return perSecond(perRound, spent)
            },
            async () => {
              await boss.insert(
                'noop',
                Array.from({ length: perRound }, (_, n) => ({ data: { n } })),
              )
              return perSecond(
                perRound,
                await timed(async () => {
                  for (let i = 0; i < perRound; i++) {
                    const [job] = await boss.fetch('noop')
                    await boss.complete('noop', job!.id)
                  }
                }),
              )
            },
          )
          await boss.stop({ graceful: false, close: false })
          say(`${width} at once: ${(cpu.ours / rounds / perRound).toFixed(2)} ms of CPU per run in this process`)
          const ours = median(sides.ours)
          const peer = median(sides.peer)
          const ratio = ours / peer
          // Four is what a daemon runs at once when nobody says otherwise.
          const promised = width === 4 ? { target: '≥ 0.25x', isMet: ratio >= 0.25 } : { target: '' }
          return { name: `no-op runs, ${width} at once`, ours: rate(ours), peer: `${rate(peer)} pg-boss`, ratio, ...promised }
        }),
      )
    }
    return figures
  },
}

/** The engine from its own parts, as the daemon puts them together. */
async function startEngine(place: Place, width: number) {
  const home = join(place.folder, 'home')
  const server = await openEmbedded({ home, log })
  place.onEnd(() => server.release())
  const database = await openDatabase({ connection: server.connection, applicationName: 'pawl bench', log })
  place.onEnd(() => database.close())
  const client = await database.pool.connect()
  await migrate(client, new Date())
  client.release()

  const self = newId('worker', clock.now())
  const bus = createBus({ database, log, self })
  await bus.start()
  const broken = (error: unknown) => {
    throw error
  }
  const redactor = createRedactor()
  const journal = createJournal({ db: database.db, bus, clock, log, redact: redactor.value, onBroken: broken })
  const settler = createSettler({ journal, bus, clock, log })
  const dispatch = createDispatch({ database, worker: self, shared: true, log })
  await dispatch.start()
  const recovery = createRecovery({ db: database.db, settler, dispatch, bus, clock, log, self })
  const identity = processIdentity()
  const { db } = database
  const worker = createWorker({
    identity: { id: self, host: hostname(), bootId: identity.bootId, pid: identity.pid, startTime: String(identity.startTime) },
    slots: () => width,
    database,
    beater: createOwnBeater(db, clock),
    dispatch,
    journal,
    bus,
    clock,
    log,
    leave: () => recovery.bury(self, { died: false }),
    giveBack: recovery.giveBack,
    onDisowned: () => broken(new Error('The worker was declared dead.')),
    run: {
      db,
      journal,
      settler,
      clock,
      log,
      home,
      pictures: createPictureShelf(home),
      adapterNamed,
      programOf: ({ adapter }) => adapterNamed(adapter),
      agents: [],
      wallsFor: async () => ({ sandbox: nothing, health: await nothing.probe() }),
      path: process.env.PATH ?? '',
      environment: () => ({}),
      userEnvironment: () => undefined,
      secretsFor: async () => [],
      hideKnown: async () => undefined,
      auditRemote: async () => undefined,
      selfTests: { assertHolds: async () => undefined },
      codePaths: [...commonCodePaths, ...agentCodePaths],
      redactor,
      questions: { ...defaultQuestions, onAnswer: () => () => undefined, tellAsked: () => undefined },
      userHome: home,
      probe: createProbes({ adapterNamed, clock, place: { path: process.env.PATH ?? '' } }),
      warm: createWarm({ clock, log, most: 0, idleMs: 0 }),
      leftovers: createLeftovers({ home, worker: self }),
      money: { prices: createPrices({}, {}), caps: { timeZone: 'UTC' } },
      recordings: { maxMb: 1 },
      files: { blobs: createBlobs({ db, home, clock, isShared: false }), limits: defaultFileLimits },
      guardrails: { ...defaultGuardrails, models: {} },
    },
  })
  const admission = createAdmission({
    db,
    journal,
    dispatch,
    bus,
    clock,
    log,
    limits: { running: width, perAgent: {} },
    worker: self,
    shared: true,
  })
  await worker.start()
  admission.start()
  place.onEnd(async () => {
    await admission.stop()
    await worker.stop()
    await dispatch.stop()
    await journal.stop()
    await bus.stop()
  })

  const agent = ResolvedAgent.parse({ name: 'noop', adapter: 'custom', options: { command: ['/bin/true'] } })
  let expected = 0
  return {
    pool: database.pool,
    /** So many tasks, queued before the clock runs, from the first admission to the last settlement. */
    async run(count: number): Promise<number> {
      await inParallel(count, 4, () => {
        const now = clock.now()
        const id = newId('task', now)
        const place = { workspace: join(home, 'workspaces', id), workspaceOwn: true }
        const rest = { priority: 0, rank: now, tags: [], extraArgs: [], attended: false, boundTo: null, at: new Date(now) }
        return insertTask(db, { id, session: { id: newId('session', now), isNew: true }, agent, prompt: 'go', ...place, ...rest })
      })
      expected += count
      const done = Promise.withResolvers<void>()
      const counted = setInterval(async () => {
        const { rows } = await database.pool.query<{ n: number }>(
          `select count(*)::int as n from pawl.tasks where state = 'completed'`,
        )
        if (rows[0]!.n >= expected) done.resolve()
      }, 20)
      const spent = await timed(async () => {
        await admission.admit()
        await done.promise
      })
      clearInterval(counted)
      return spent
    },
  }
}
