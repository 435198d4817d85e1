import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { type Ended, maxOwnFailures } from '../../src/engine/base/retry.ts'
import { runsOfTask } from '../../src/store/runs.ts'
import { findTask } from '../../src/store/tasks.ts'
import { orphanedWorkers } from '../../src/store/workers.ts'
import { makeParts } from './store.ts'

it('a new conversation that has begun is gone on with after an interruption, one that has not is begun again', async () => {
  const parts = await makeParts()
  const worker = await parts.addWorker()
  const task = await parts.addTask()
  await sql`update pawl.tasks set continuation = '{"kind":"retry","fresh":true}'`.execute(parts.db)
  await sql`update pawl.sessions set vendor_id = 'old'`.execute(parts.db)
  const fresh = async () => (await findTask(parts.db, task.id))?.continuation

  const silent = await parts.admit(task, 1, worker)
  await parts.settler.settleRun(silent, { outcome: 'interrupted', text: '' })
  expect(await fresh()).toEqual({ kind: 'retry', fresh: true })

  const speaking = await parts.admit(task, 2, worker)
  const event = { type: 'agent.session', data: { vendorId: 'new' } } as const
  parts.journal.append({ task: task.id, run: speaking.id, runNo: 0, fence: 2, at: new Date(), event })
  await parts.journal.flush()
  await parts.settler.settleRun(speaking, { outcome: 'interrupted', text: '' }, { vendorSession: 'new' })
  expect(await fresh()).toEqual({ kind: 'retry', fresh: false })
})

it('a run that a worker admitted and nobody took goes back when the worker has ended, and is no loss', async () => {
  const parts = await makeParts()
  await parts.dispatch.start()
  const [dead, alive] = [await parts.addWorker(), await parts.addWorker()]
  const [task, other] = [await parts.addTask(), await parts.addTask()]
  const stranded = await parts.admit(task, 1, dead)
  const taken = await parts.admit(other, 1, dead)
  expect(await parts.lease(taken, alive)).toEqual([taken.id])
  // Half a burial: the worker has ended, and its reaper died before it gave anything back.
  await sql`update pawl.workers set ended_at = now() where id = ${dead}`.execute(parts.db)
  expect(await orphanedWorkers(parts.db)).toEqual([dead])
  expect(await parts.recovery.look()).toBe(1)
  expect(await orphanedWorkers(parts.db)).toEqual([])
  expect(await parts.lease(stranded, alive)).toEqual([])
  expect((await findTask(parts.db, task.id))?.state).toBe('queued')
  expect((await findTask(parts.db, other.id))?.state).toBe('running')
  expect((await runsOfTask(parts.db, task.id)).map((run) => run.outcome)).toEqual(['interrupted'])
  await parts.dispatch.stop()
})

it('a task whose runs are lost before their program starts goes back as often as that happens, and is no suspect', async () => {
  const parts = await makeParts()
  await parts.dispatch.start()
  const task = await parts.addTask()
  for (let fence = 1; fence <= 8; fence++) {
    const worker = await parts.addWorker()
    await parts.lease(await parts.admit(task, fence, worker), worker)
    await parts.recovery.bury(worker, { died: true })
    expect(await findTask(parts.db, task.id)).toMatchObject({ state: 'queued', suspect: null, attempts: 0 })
  }
  expect((await runsOfTask(parts.db, task.id)).map(({ outcome }) => outcome)).toEqual(Array(8).fill('lost'))
  await parts.dispatch.stop()
})

it('a run that cannot even be started is not begun for ever, while shutdowns and losses may come as often as they like', async () => {
  const parts = await makeParts()
  const worker = await parts.addWorker()
  const task = await parts.addTask()
  let fence = 0
  const end = async (end: Omit<Ended, 'text'>) => {
    const run = await parts.admit(task, ++fence, worker)
    await parts.lease(run, worker)
    await parts.settler.settleRun(run, { text: '', message: 'No database.', ...end })
    return (await findTask(parts.db, task.id))?.state
  }
  const ours = { outcome: 'interrupted', category: 'internal' } as const
  for (let n = 0; n < 7; n++) expect(await end({ outcome: 'interrupted' })).toBe('queued')
  for (let n = 1; n < maxOwnFailures; n++) {
    expect(await end(ours)).toBe('queued')
    expect(await end({ outcome: 'lost' })).toBe('queued')
  }
  expect(await end(ours)).toBe('blocked')
  expect(await findTask(parts.db, task.id)).toMatchObject({
    reason: { kind: 'interrupted', detail: expect.stringContaining('No database.') },
  })
})

it('a worker whose own queue somebody else has dropped already can be buried', async () => {
  const parts = await makeParts()
  const worker = await parts.addWorker()
  const { createDispatch } = await import('../../src/engine/queue/dispatch.ts')
  const own = createDispatch({ database: parts.database, worker, shared: false, log: parts.log })
  await own.start()
  // Learns of the queue as it starts, and not of its end.
  await parts.dispatch.start()
  await own.stop()
  await parts.recovery.bury(worker, { died: true })
  await parts.recovery.bury(worker, { died: true })
  await parts.dispatch.stop()
})

it('one run that cannot be given back does not keep others of the same worker from it', async () => {
  const parts = await makeParts()
  await parts.dispatch.start()
  const dead = await parts.addWorker()
  const [bad, good] = [await parts.addTask(), await parts.addTask()]
  for (const task of [bad, good]) await parts.lease(await parts.admit(task, 1, dead), dead)
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$`.execute(
    parts.db,
  )
  await sql
    .raw(
      `create trigger refuse before update on pawl.tasks for each row when (old.id = '${bad.id}' and old.state <> new.state) execute function refuse()`,
    )
    .execute(parts.db)
  await sql`update pawl.workers set ended_at = now() where id = ${dead}`.execute(parts.db)
  await expect(parts.recovery.look()).rejects.toThrow('not this one')
  expect((await findTask(parts.db, good.id))?.state).toBe('queued')
  expect((await findTask(parts.db, bad.id))?.state).toBe('running')
  await sql`drop trigger refuse on pawl.tasks`.execute(parts.db)
  await parts.recovery.look()
  expect((await findTask(parts.db, bad.id))?.state).toBe('queued')
  await parts.dispatch.stop()
})

it('a run that waits for an answer without having asked anything fails, because nobody could ever answer', async () => {
  const parts = await makeParts()
  const worker = await parts.addWorker()
  const task = await parts.addTask()
  const run = await parts.admit(task, 1, worker)
  await parts.lease(run, worker)
  await parts.settler.settleRun(run, { outcome: 'blocked', text: '' })
  expect(await findTask(parts.db, task.id)).toMatchObject({ state: 'failed', reason: { kind: 'protocol_error' } })
})
