import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stageOf, stages } from '../../src/domain/task/stage.ts'
import { taskStates } from '../../src/domain/task/task.ts'
import { rememberFindings } from '../../src/engine/upkeep/findings.ts'
import { lookForTrouble } from '../../src/engine/upkeep/health.ts'
import { bulkVerbs } from '../../src/operations/bulk.ts'
import { makeVerbs } from './verbs.ts'

const ends: (() => Promise<void>)[] = []
let world: Awaited<ReturnType<typeof makeVerbs>>
beforeAll(async () => {
  world = await makeVerbs({ onEnd: (end) => ends.push(end) })
})
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const minute = 60_000

it('lists by state, column, words and time, in three orders, page by page', async () => {
  const { add, end, begin, verbs } = world
  const [old, young, running] = [
    await add({ name: 'old one', tags: ['list'] }),
    await add({ tags: ['list'] }),
    await add({ tags: ['list'] }),
  ]
  // The one that was made last ends first.
  await end(young.id, 'succeeded')
  const between = new Date().toISOString()
  await end(old.id, 'failed', 'exit_code')
  await begin(running.id)
  const ids = async (filter: Parameters<typeof verbs.listTasks>[0]) =>
    (await verbs.listTasks({ tag: 'list', ...filter })).items.map(({ id }) => id)
  expect(await ids({ limit: 10 })).toEqual([running.id, young.id, old.id])
  expect(await ids({ limit: 10, sort: 'ended' })).toEqual([old.id, young.id])
  expect(await ids({ limit: 10, endedSince: between })).toEqual([old.id])
  expect(await ids({ limit: 10, updatedSince: between, sort: 'updated' })).toEqual([running.id, old.id])
  expect(await ids({ limit: 10, columns: ['done'], states: ['failed'] })).toEqual([old.id])
  expect(await ids({ limit: 10, text: 'OLD' })).toEqual([old.id])
  expect(await ids({ limit: 10, text: young.id.slice(-6) })).toEqual([young.id])
  const first = await verbs.listTasks({ tag: 'list', sort: 'ended', limit: 1 })
  expect(await ids({ limit: 1, sort: 'ended', cursor: first.next! })).toEqual([young.id])
  await expect(ids({ limit: 1, sort: 'updated', cursor: first.next! })).rejects.toThrow(/cursor is not one/)
  // Times and texts that JavaScript knows and the database does not.
  for (const made of [
    ['-271821-04-20T00:00:00.000Z', young.id],
    ['2026-01-01T00:00:00.000Z', '\0'],
  ]) {
    const cursor = Buffer.from(JSON.stringify([...made, 'ended'])).toString('base64url')
    await expect(ids({ limit: 1, sort: 'ended', cursor })).rejects.toThrow(/cursor is not one/)
  }
  expect(await verbs.countTasks({ tag: 'list' })).toEqual({ working: 1, needs_you: 0, review: 0, waiting: 0, done: 2 })
})

it('a queued task in a list says what it waits for', async () => {
  const { add, begin, verbs } = world
  const first = await add({ tags: ['line'] })
  await begin(first.id)
  const second = await add({ tags: ['line'], session: first.session })
  const { items } = await verbs.listTasks({ tag: 'line', states: ['queued'], limit: 5 })
  expect(items).toMatchObject([{ id: second.id, reason: { kind: 'session', detail: first.id } }])
})

it('a blocked task needs somebody, unless it waits for its own subtasks: then it works', async () => {
  const { add, db, verbs } = world
  const [asks, waits] = [await add({ tags: ['stand'] }), await add({ tags: ['stand'] })]
  const block = (id: string, kind: string) =>
    sql`update pawl.tasks set state = 'blocked', reason = ${JSON.stringify({ kind })}::jsonb where id = ${id}`.execute(db)
  await block(asks.id, 'question')
  await block(waits.id, 'subtasks')
  const standing = async (column: 'working' | 'needs_you') =>
    (await verbs.listTasks({ tag: 'stand', columns: [column], limit: 5 })).items.map(({ id }) => id)
  expect(await standing('needs_you')).toEqual([asks.id])
  expect(await standing('working')).toEqual([waits.id])
  expect(await verbs.countTasks({ tag: 'stand' })).toMatchObject({ working: 1, needs_you: 1 })
})

it('many tasks are changed at once, each for itself, and what is refused is told', async () => {
  const { add, end, verbs, caller, stateOf } = world
  const { changeTasks } = bulkVerbs(verbs)
  const [waiting, ended] = [await add({ tags: ['a', 'b'] }), await add()]
  await end(ended.id, 'succeeded')
  const gone = 't_000000000000000000'
  const tasks = [waiting.id, ended.id, gone]
  const edited = await changeTasks({ action: 'edit', tasks, priority: 3, addTags: ['c'], removeTags: ['a'] }, caller)
  expect(edited.done).toEqual([waiting.id])
  expect(edited.refused).toMatchObject([
    { id: ended.id, code: 'conflict', message: expect.stringContaining('only a task that waits') },
    { id: gone, code: 'not_found' },
  ])
  expect(await verbs.getTask(waiting.id)).toMatchObject({ priority: 3, tags: ['b', 'c'] })
  expect(await changeTasks({ action: 'cancel', tasks: [waiting.id] }, caller)).toEqual({ done: [waiting.id], refused: [] })
  expect((await changeTasks({ action: 'retry', tasks: [waiting.id] }, caller)).done).toEqual([waiting.id])
  const removed = await changeTasks({ action: 'delete', tasks: [ended.id, waiting.id] }, caller)
  expect(removed).toMatchObject({ done: [ended.id], refused: [{ id: waiting.id, code: 'conflict' }] })
  expect(await stateOf(ended.id)).toBeUndefined()
  await expect(changeTasks({ action: 'edit', tasks }, caller)).rejects.toThrow(/Nothing is to be changed/)
})

it('an agent whose runs fail one after the other is not well until one succeeds, and a task that says nothing is stuck', async () => {
  const { add, end, begin, db, journal } = world
  const look = (laterMs = 0) => lookForTrouble(db, { now: new Date(Date.now() + laterMs) })
  const helper = async () => (await look()).agents.find(({ agent }) => agent === 'helper')
  await end((await add()).id, 'succeeded')
  expect(await helper()).toMatchObject({ healthy: true, failedInARow: 0, detail: null, todo: null })
  const failed = [await add(), await add(), await add()]
  for (const { id } of failed) await end(id, 'failed', 'exit_code')
  expect(await helper()).toMatchObject({
    healthy: false,
    failedInARow: 3,
    category: 'exit_code',
    detail: 'It broke.',
    lastSucceededAt: expect.any(String),
    todo: `look at what its last run said: pawl logs ${failed[2]!.id}`,
  })
  await end((await add()).id, 'succeeded')
  expect(await helper()).toMatchObject({ healthy: true, failedInARow: 0 })
  const { id } = await add({ name: 'quiet' })
  await begin(id)
  expect((await look()).stuck).toEqual([])
  expect((await look(11 * minute)).stuck).toContainEqual(
    expect.objectContaining({ task: id, name: 'quiet', agent: 'helper', todo: expect.stringContaining(`pawl cancel ${id}`) }),
  )
  const { id: building } = await add({ name: 'building' })
  const run = await begin(building)
  const call = { type: 'agent.tool_called', data: { callId: 'c', tool: 'Bash', input: 'make' } } as const
  await journal.append({ task: building, run: run.id, runNo: 0, fence: run.fence, at: new Date(), event: call })
  await journal.flush()
  const stuck = async (ms: number) => (await look(ms)).stuck.map(({ task }) => task)
  expect(await stuck(4 * 60 * minute)).not.toContain(building)
  expect(await stuck(6 * 60 * minute)).toContain(building)
})

it('a crash of Pawl is no failure of its agent', async () => {
  const { add, begin, settler, db, end } = world
  const helper = async () => (await lookForTrouble(db, { now: new Date() })).agents.find(({ agent }) => agent === 'helper')
  await end((await add()).id, 'succeeded')
  for (const outcome of ['lost', 'lost', 'interrupted', 'lost', 'lost'] as const) {
    const { id } = await add()
    await settler.settleRun(await begin(id), { outcome, text: '', message: 'The worker of this run is gone.' })
  }
  const { id } = await add()
  await settler.settleRun(await begin(id), { outcome: 'failed', category: 'internal', text: '', message: 'Pawl made a mistake.' })
  expect(await helper()).toMatchObject({ healthy: true, failedInARow: 0, detail: null })
})

it('what asking the program showed after one failure counts at once, until a run succeeds', async () => {
  const { add, end, db } = world
  const findings = rememberFindings({ now: Date.now } as never)
  const helper = async () =>
    (await lookForTrouble(db, { now: new Date(), findings })).agents.find(({ agent }) => agent === 'helper')
  await end((await add()).id, 'failed', 'exit_code')
  expect(await helper()).toMatchObject({ healthy: true, failedInARow: 1 })
  findings.note('helper', { healthy: false, detail: 'it cannot load its library', fix: 'install it anew' })
  expect(await helper()).toMatchObject({ healthy: false, detail: 'it cannot load its library', todo: 'install it anew' })
  await end((await add()).id, 'succeeded')
  expect(await helper()).toMatchObject({ healthy: true })
})

it('lists by where protocols say that tasks stand, the same as each task is told to stand', async () => {
  const { add, verbs, db } = world
  const made = await Promise.all(Array.from({ length: 14 }, () => add({ tags: ['stages'] })))
  const facts = [
    ...taskStates.map((state) => [state, null] as const),
    ['blocked', { kind: 'subtasks' }] as const,
    ['blocked', { kind: 'question' }] as const,
    ['failed', { kind: 'auth_failed' }] as const,
  ]
  for (const [n, [state, reason]] of facts.entries())
    await sql`update pawl.tasks set state = ${state}, reason = ${reason && JSON.stringify(reason)}::jsonb where id = ${made[n]!.id}`.execute(
      db,
    )
  let seen = 0
  for (const stage of stages) {
    const { items } = await verbs.listTasks({ tag: 'stages', stages: [stage], limit: 50 })
    expect(
      items.map(({ state, reason }) => [stageOf({ state, reason }), state]),
      stage,
    ).toEqual(items.map(({ state }) => [stage, state]))
    seen += items.length
  }
  expect(seen).toBe(facts.length)
  expect((await verbs.listTasks({ tag: 'stages', stages: [], limit: 50 })).items).toEqual([])
})
