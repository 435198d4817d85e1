import { sql } from 'kysely'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { newId } from '../../src/domain/id.ts'
import { createAdmission } from '../../src/engine/queue/admission.ts'
import { archiveSession } from '../../src/engine/session/archive.ts'
import { atOnce } from '../../src/store/at-once.ts'
import { leaseRuns, loadTaken } from '../../src/store/runs.ts'
import { insertTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { closeSessions, conversations, makeSession } from './session-parts.ts'
import { makeParts } from './store.ts'

/** What a client is asked: a text with its values, or a statement that is told its answer. */
interface Asked {
  readonly text: string
  callback?: (...answer: unknown[]) => void
}

/** What is waited for counts, not only what is sent: a trip begins when a connection that owes no answer is asked something. */
async function counted(work: () => Promise<unknown>): Promise<{ statements: number; trips: number }> {
  const { query } = pg.Client.prototype
  const owed = new WeakMap<pg.Client, number>()
  const count = { statements: 0, trips: 0 }
  const counting = function (this: pg.Client, ...args: [Asked | string, ...unknown[]]) {
    const [asked] = args
    // Hints for other processes are sent when there is time, and nobody waits for them.
    const isHint = (typeof asked === 'string' ? asked : asked.text).includes('pg_notify')
    const before = owed.get(this) ?? 0
    const heard = () => owed.set(this, owed.get(this)! - 1)
    if (!isHint) {
      count.statements++
      if (before === 0) count.trips++
      owed.set(this, before + 1)
    }
    if (isHint) return (query as (...args: unknown[]) => unknown).apply(this, args)
    if (typeof asked !== 'string' && asked.callback) {
      const { callback } = asked
      asked.callback = (...answer) => {
        heard()
        callback(...answer)
      }
    }
    const answer = (query as (...args: unknown[]) => unknown).apply(this, args)
    if (answer instanceof Promise) answer.then(heard, heard)
    return answer
  }
  pg.Client.prototype.query = counting as unknown as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return count
}

it('a task is created by one statement', async () => {
  const { db } = await makeParts()
  const id = newId('task', Date.now())
  const place = { workspace: `/tmp/${id}`, workspaceOwn: true }
  const rest = { priority: 0, rank: 0, tags: [], extraArgs: [], attended: false, boundTo: null, at: new Date() }
  const task = { id, session: { id: newId('session', Date.now()), isNew: true }, agent: commandAgent(['true']), prompt: 'x' }
  expect(await counted(() => insertTask(db, { ...task, ...place, ...rest }))).toEqual({ statements: 1, trips: 1 })
})

it('a run is admitted in three trips after the look whether there is anything to admit, and settled in three', async () => {
  const { db, journal, dispatch, bus, log, settler, ...parts } = await makeParts()
  await dispatch.start()
  onTestFinished(() => dispatch.stop())
  const worker = await parts.addWorker()
  const limits = { running: 4, perAgent: {} }
  const admission = createAdmission({ db, journal, dispatch, bus, clock, log, limits, worker, shared: true })
  // The first round asks pg-boss for its queue.
  await parts.addTask()
  await admission.admit()
  const task = await parts.addTask()
  await admission.admit()
  const next = await parts.addTask()
  // It has just been busy, so it does not look first; the one after it finds nothing.
  expect(await counted(() => admission.admit())).toEqual({ statements: 8, trips: 3 })
  const { rows } = await sql<{ id: string; task_id: string }>`
    select id, task_id from pawl.runs where task_id = any(${[task.id, next.id]}::text[]) order by fence`.execute(db)
  expect(rows).toHaveLength(2)
  const { id, task_id: taskId } = rows.find((run) => run.task_id === task.id)!
  await parts.lease({ id }, worker)
  const started = {
    task: taskId,
    run: id,
    fence: 1,
    event: { type: 'run.noted', data: { code: 'x', detail: 'started' } },
  } as const
  const note = (fence: number, text: string) =>
    journal.transactAtOnce('killunit.record', { ...started, fence }, async (one) => {
      const sent = sql`update pawl.runs set message = ${text} from pawl.leases l where id = ${id} and l.run_id = id and l.fence = ${fence}`
      return (await sent.execute(one)).numAffectedRows
    })
  expect(await counted(() => note(1, 'ours'))).toEqual({ statements: 4, trips: 1 })
  // Of a run that is over neither is stored.
  expect(await note(2, 'late')).toBe(0n)
  const noted = (await journal.read(taskId, { after: 0, limit: 100 })).filter(({ type }) => type === 'run.noted')
  expect(noted).toHaveLength(1)
  const run = { id, taskId, sessionId: task.session, fence: 1 }
  const end = { outcome: 'succeeded', text: 'done' } as const
  expect(await counted(() => settler.settleRun(run, end, { startedAtMs: Date.now() }))).toEqual({ statements: 7, trips: 3 })
})

it('a conversation is archived in three trips, whether it is new or has gained something', async () => {
  const { db, session, home, write, ...parts } = await makeSession()
  onTestFinished(closeSessions)
  const run = await parts.begin(await parts.addTask('x'))
  const vendorId = '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'
  const archive = () => archiveSession({ db, home, files: conversations, session, vendorId, run, at: new Date() })
  const path = `.talk/projects/-w/${vendorId}.jsonl`
  await write(path, 'one\n')
  expect(await counted(archive)).toEqual({ statements: 6, trips: 3 })
  await write(path, 'one\ntwo\n')
  expect(await counted(archive)).toEqual({ statements: 6, trips: 3 })
})

it('waiting runs are leased, read and their tokens spent in two trips', async () => {
  const { db, dispatch, ...parts } = await makeParts()
  await dispatch.start()
  onTestFinished(() => dispatch.stop())
  const worker = await parts.addWorker()
  const take = async () => {
    const run = await parts.admit(await parts.addTask(), 1, worker)
    await db.transaction().execute((tx) => dispatch.enqueue(tx, [run.id]))
    return counted(() =>
      db.transaction().execute(async (tx) => {
        const { runs, spendAndCommit } = await dispatch.take(tx, 4)
        expect(runs).toEqual([run.id])
        const [leases, found] = await atOnce(tx, (one) => [
          leaseRuns(one, runs, { worker, at: new Date() }),
          loadTaken(one, runs),
          spendAndCommit(one),
        ])
        expect([leases, found[0]?.run.state]).toEqual([[run.id], 'running'])
      }),
    )
  }
  await take()
  expect(await take()).toEqual({ statements: 8, trips: 2 })
})
