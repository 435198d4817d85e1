import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { newId } from '../../src/domain/id.ts'
import { createBus } from '../../src/engine/journal/bus.ts'
import { createJournal } from '../../src/engine/journal/journal.ts'
import { createDispatch, queueSchemaVersion } from '../../src/engine/queue/dispatch.ts'
import { createRecovery } from '../../src/engine/queue/recovery.ts'
import { createSettler } from '../../src/engine/run/settle.ts'
import { processIdentity } from '../../src/sandbox/process/identity.ts'
import { admitTasks } from '../../src/store/admission.ts'
import { migrateStore } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { leaseRuns } from '../../src/store/runs.ts'
import { insertTask } from '../../src/store/tasks.ts'
import { registerWorker } from '../../src/store/workers.ts'
import { commandAgent, makeHome } from './home.ts'

/** A real store with the parts of an engine that write to it, and nobody who runs anything. It lasts as long as the test, unless `onEnd` says otherwise. */
export async function makeParts(
  onEnd: (close: () => Promise<void>) => void = onTestFinished,
  { clock = systemClock, usageWindows }: { clock?: Clock; usageWindows?: number } = {},
) {
  const home = await makeHome()
  const logged: Record<string, unknown>[] = []
  const log = createLog({ level: 'debug', format: 'json', now: Date.now, write: (line) => logged.push(JSON.parse(line)) })
  const store = await openStore({ home: home.path, url: undefined, log })
  const { database } = store
  const { db } = database
  await migrateStore(database, { now: new Date(), queueVersion: queueSchemaVersion })
  const self = newId('worker', Date.now())
  const bus = createBus({ database, log, self })
  const journal = createJournal({ db, bus, clock, log, onBroken: () => undefined })
  const settler = createSettler({ journal, bus, clock, log, ...(usageWindows === undefined ? {} : { usageWindows }) })
  const dispatch = createDispatch({ database, worker: self, shared: true, log })
  const recovery = createRecovery({ db, settler, dispatch, bus, clock, log, self })
  onEnd(async () => {
    await journal.stop()
    await bus.stop()
    await store.close()
    await home.remove()
  })

  const addWorker = async () => {
    const { bootId, pid, startTime } = processIdentity()
    const id = newId('worker', Date.now())
    await registerWorker(db, { id, host: 'here', bootId, pid, startTime: String(startTime) }, new Date())
    return id
  }
  const addTask = async (id = newId('task', Date.now())) => {
    const session = newId('session', Date.now())
    const task = {
      id,
      session: { id: session, isNew: true },
      agent: commandAgent(['true']),
      prompt: 'x',
      workspace: `/tmp/${id}`,
    }
    const rest = { priority: 0, rank: 0, tags: [], extraArgs: [], attended: false, boundTo: null, at: new Date() }
    await insertTask(db, { ...task, ...rest, workspaceOwn: true })
    return { id, session }
  }
  /** The task's next run, as admission makes it. */
  const admit = async (task: { id: string; session: string }, fence: number, worker: string) => {
    const run = { id: newId('run', Date.now()), taskId: task.id, sessionId: task.session, fence }
    const admitted = { task: task.id, run: run.id, session: task.session, agent: 'helper', fence, attempt: 1, aloneMs: null }
    await db.transaction().execute((tx) => admitTasks(tx, [admitted], { worker, at: new Date() }))
    return run
  }
  const lease = (run: { id: string }, worker: string) =>
    db.transaction().execute((tx) => leaseRuns(tx, [run.id], { worker, at: new Date() }))
  return { home, store, database, db, bus, journal, settler, dispatch, recovery, logged, log, addWorker, addTask, admit, lease }
}
