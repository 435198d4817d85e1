import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { findCandidates } from '../../src/store/admission.ts'
import { readTurn, withdrawDeath } from '../../src/store/suspects.ts'
import { findTask, moveTask } from '../../src/store/tasks.ts'
import { whatTheyWaitFor } from '../../src/store/waiting.ts'
import { makeParts } from './store.ts'
import { HandClock } from './test-clock.ts'
import { agentWith, day, makeWorld, minute, second } from './weeks/world.ts'

const unit = '{"kind":"process_group","marker":"nobody-carries-this","enforced":false}'

/** A world in which runs end when a test says so, and workers die with all that runs. */
async function makeMortalWorld(running = 4) {
  const world = await makeWorld({ running })
  const { db, clock, live, settler } = world
  await world.dispatch.start()
  onTestFinished(() => world.dispatch.stop())
  onTestFinished(() => world.stop())
  world.runsTake(day)
  const add = async () => {
    clock.advance(1)
    return world.add(agentWith('a'))
  }
  const admit = () => world.pass(0)
  const running_ = async () => (await world.tasks()).filter(({ state }) => state === 'running').map(({ id }) => id)
  const finish = async (id: string) => {
    const [one] = live.splice(
      live.findIndex(({ run }) => run.taskId === id),
      1,
    )
    await settler.settleRun(one!.run, { outcome: 'succeeded', text: 'done' })
    await admit()
  }
  /** What a run stores in the moment in which it starts its program. */
  const startPrograms = () =>
    sql`update pawl.runs set walls = 'none', kill_unit = ${unit}::jsonb where state = 'running'`.execute(db)
  const dieAfter = async (ms: number) => {
    await startPrograms()
    await world.pass(ms)
    await world.workerDies()
    await admit()
  }
  const waits = async (id: string) =>
    (await whatTheyWaitFor(db, [await world.task(id)], { running, perAgent: {} }, new Date(clock.now())))[0]
  return { ...world, add, admit, running: running_, finish, startPrograms, dieAfter, waits }
}

it('after the death of their worker tasks run one at a time, beside nobody, and are suspects until they have ended by themselves', async () => {
  const world = await makeMortalWorld()
  const [a, b, c] = [await world.add(), await world.add(), await world.add()]
  await world.admit()
  expect(await world.running()).toEqual([a, b, c])
  await world.dieAfter(20 * second)
  const later = await world.add()
  await world.admit()
  expect(await world.running()).toEqual([a])
  expect(await world.waits(later)).toEqual({ kind: 'suspect', detail: expect.stringContaining(a) })
  expect(await world.waits(b)).toEqual({ kind: 'suspect', detail: expect.stringContaining(a) })
  await world.finish(a)
  // The others have their turn when somebody was alone.
  expect(await world.running()).toEqual([later])
  expect(await world.waits(b)).toEqual({ kind: 'alone', detail: expect.stringContaining('for the first 60 s') })
  await world.finish(later)
  expect(await world.running()).toEqual([b])
  await world.finish(b)
  expect(await world.running()).toEqual([c])
  await world.finish(c)
  expect((await world.tasks()).map(({ state, suspect }) => [state, suspect])).toEqual(Array(4).fill(['completed', null]))
})

it('a suspect is alone for twice as long as its lost run had lasted; then others are admitted beside it', async () => {
  const world = await makeMortalWorld()
  const a = await world.add()
  await world.admit()
  await world.dieAfter(3 * minute)
  const [b, c] = [await world.add(), await world.add()]
  await world.pass(6 * minute - second)
  expect(await world.running()).toEqual([a])
  await world.pass(10 * second)
  expect(await world.running()).toEqual([a, b, c])
  expect((await world.task(a)).suspect).not.toBeNull()
})

it('where others keep the scope busy it drains for a suspect after ten minutes, whatever their rank', async () => {
  const world = await makeMortalWorld(2)
  const [a, b] = [await world.add(), await world.add()]
  await world.admit()
  await world.dieAfter(second)
  await world.pass(minute)
  const urgent = async () => {
    const id = await world.add()
    await sql`update pawl.tasks set rank = 0 where id = ${id}`.execute(world.db)
    await world.admit()
    return id
  }
  let other = await urgent()
  expect(await world.running()).toEqual([a, other])
  for (let minutes = 0; minutes < 9; minutes++) {
    await world.pass(minute)
    await world.finish(other)
    other = await urgent()
    expect(await world.running()).toEqual([a, other])
  }
  await world.pass(minute)
  await world.finish(other)
  other = await urgent()
  expect(await world.running()).toEqual([a])
  expect(await world.waits(other)).toEqual({ kind: 'suspect', detail: expect.stringContaining(b) })
  await world.finish(a)
  expect(await world.running()).toEqual([b])
  await world.pass(minute + 10 * second)
  expect(await world.running()).toEqual([b, other])
})

it('the second death while only one task ran holds it for a person, and nothing else', async () => {
  const world = await makeMortalWorld()
  const [killer, neighbour] = [await world.add(), await world.add()]
  await world.admit()
  await world.dieAfter(20 * second)
  expect((await world.task(killer)).suspect).toMatchObject({ lastedMs: 20_000, lostAlone: [] })
  await world.dieAfter(30 * second)
  expect((await world.task(killer)).suspect).toMatchObject({ lastedMs: 30_000, lostAlone: [30_000] })
  expect((await world.task(neighbour)).suspect).toMatchObject({ lastedMs: 20_000, lostAlone: [] })
  expect(await world.running()).toEqual([killer])
  await world.dieAfter(10 * second)
  expect(await world.task(killer)).toMatchObject({
    state: 'blocked',
    suspect: null,
    attempts: 0,
    reason: {
      kind: 'worker_lost',
      detail: expect.stringMatching(
        /died 2 times while only this task ran, the last time on here, after runs of 30 s and 10 s\..*pawl retry/,
      ),
    },
  })
  expect(await world.running()).toEqual([neighbour])
  await world.finish(neighbour)
  expect(await world.task(neighbour)).toMatchObject({ state: 'completed', suspect: null })
})

it('a death while others ran beside a suspect counts for none of them', async () => {
  const world = await makeMortalWorld()
  const a = await world.add()
  await world.admit()
  await world.dieAfter(10 * second)
  const b = await world.add()
  await world.pass(70 * second)
  expect(await world.running()).toEqual([a, b])
  await world.dieAfter(second)
  for (const id of [a, b]) expect((await world.task(id)).suspect).toMatchObject({ lostAlone: [] })
})

it('a run that was alone and lost before its program started counts for nothing', async () => {
  const world = await makeMortalWorld()
  const a = await world.add()
  await world.admit()
  await world.dieAfter(10 * second)
  const before = (await world.task(a)).suspect
  for (let n = 0; n < 4; n++) {
    await world.workerDies()
    await world.admit()
  }
  expect(await world.task(a)).toMatchObject({ state: 'running', suspect: before })
})

it('whoever runs only its own tasks shares no fate: nobody waits there for a suspect elsewhere', async () => {
  const world = await makeMortalWorld()
  const a = await world.add()
  await world.admit()
  await world.dieAfter(10 * second)
  expect(await world.running()).toEqual([a])
  const own = await world.add()
  const oneShot = { worker: await world.addWorker(), shared: false }
  await sql`update pawl.tasks set bound_to = ${oneShot.worker} where id = ${own}`.execute(world.db)
  const now = new Date(world.clock.now())
  expect(await readTurn(world.db, oneShot, now)).toMatchObject({ isAlone: false, isBusy: false, hasSuspects: false })
  expect(await readTurn(world.db, { worker: world.worker, shared: true }, now)).toMatchObject({ isAlone: true, isBusy: true })
  const found = await findCandidates(world.db, { running: 4, perAgent: {}, ...oneShot, now, suspects: false })
  expect(found.map(({ id }) => id)).toEqual([own])
  expect(await world.waits(own)).toBeNull()
})

it('a person who wants a task again clears it of suspicion, and so does its worker if it is found alive', async () => {
  const parts = await makeParts()
  const [asked, other] = [await parts.addTask(), await parts.addTask()]
  const suspect = { since: new Date().toISOString(), worker: 'w_dead', host: 'mars', lastedMs: 1, deaths: 1, lostAlone: [1] }
  await sql`update pawl.tasks set suspect = ${JSON.stringify(suspect)}::jsonb`.execute(parts.db)
  await sql`update pawl.tasks set state = 'blocked' where id = ${asked.id}`.execute(parts.db)
  const suspects = async () => [(await findTask(parts.db, asked.id))?.suspect, (await findTask(parts.db, other.id))?.suspect]
  await parts.db.transaction().execute((tx) => moveTask(tx, asked.id, 'retry', { reason: null, at: new Date() }))
  expect(await suspects()).toEqual([null, suspect])
  await withdrawDeath(parts.db, 'w_other')
  expect(await suspects()).toEqual([null, suspect])
  await withdrawDeath(parts.db, 'w_dead')
  expect(await suspects()).toEqual([null, null])
})

it('a worker whose process is gone has died; one that stands still has not, and nobody is a suspect because of it', async () => {
  const clock = new HandClock()
  const parts = await makeParts(undefined, { clock })
  await parts.dispatch.start()
  onTestFinished(() => parts.dispatch.stop())
  const [gone, still] = [await parts.addWorker(), await parts.addWorker()]
  const [a, b] = [await parts.addTask(), await parts.addTask()]
  await parts.lease(await parts.admit(a, 1, gone), gone)
  await parts.lease(await parts.admit(b, 1, still), still)
  await sql`update pawl.runs set walls = 'none', kill_unit = ${unit}::jsonb`.execute(parts.db)
  // A number that was given to another process since.
  await sql`update pawl.workers set start_time = '1' where id = ${gone}`.execute(parts.db)
  await parts.recovery.look()
  expect(await findTask(parts.db, a.id)).toMatchObject({
    state: 'queued',
    suspect: { worker: gone, host: 'here', lostAlone: [] },
  })
  expect((await findTask(parts.db, b.id))?.state).toBe('running')
  for (let looks = 0; looks < 9; looks++) {
    clock.advance(2 * second)
    await parts.recovery.look()
  }
  expect(await findTask(parts.db, b.id)).toMatchObject({ state: 'queued', suspect: null })
})

it('a person is asked about a task that is to be run once only if its program had started', async () => {
  const parts = await makeParts()
  await parts.dispatch.start()
  onTestFinished(() => parts.dispatch.stop())
  const task = await parts.addTask()
  await sql`update pawl.tasks set spec = '{"once":true}'`.execute(parts.db)
  const dieWith = async (fence: number, hasStarted: boolean) => {
    const worker = await parts.addWorker()
    await parts.lease(await parts.admit(task, fence, worker), worker)
    if (hasStarted)
      await sql`update pawl.runs set walls = 'none', kill_unit = ${unit}::jsonb where fence = ${fence}`.execute(parts.db)
    await parts.recovery.bury(worker, { died: true })
    return findTask(parts.db, task.id)
  }
  expect(await dieWith(1, false)).toMatchObject({ state: 'queued', suspect: null })
  expect(await dieWith(2, true)).toMatchObject({
    state: 'blocked',
    reason: { kind: 'interrupted', detail: expect.stringContaining('run once only') },
  })
})
