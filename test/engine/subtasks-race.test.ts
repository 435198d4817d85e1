import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { newId } from '../../src/domain/id.ts'
import { createBus } from '../../src/engine/journal/bus.ts'
import { createJournal } from '../../src/engine/journal/journal.ts'
import { createSettler } from '../../src/engine/run/settle.ts'
import { cancelTree, whileItGrows } from '../../src/engine/tasks/subtasks/cancel-tree.ts'
import { openStore } from '../../src/store/open.ts'
import { findTask, insertTask } from '../../src/store/tasks.ts'
import { commandAgent } from './home.ts'
import { makeParts } from './store.ts'

type Parts = Awaited<ReturnType<typeof makeParts>>

async function another(parts: Parts) {
  const store = await openStore({ home: parts.home.path, url: undefined, log: silentLog })
  const bus = createBus({ database: store.database, log: silentLog, self: newId('worker', Date.now()) })
  const common = { bus, clock: systemClock, log: silentLog }
  const journal = createJournal({ ...common, db: store.database.db, onBroken: () => undefined })
  onTestFinished(async () => {
    await journal.stop()
    await bus.stop()
    await store.close()
  })
  return { journal, settler: createSettler({ ...common, journal }) }
}

/** A task that waits for so many subtasks, each of which runs. */
async function family(parts: Parts, count: number, state: 'blocked' | 'running' = 'blocked') {
  const worker = await parts.addWorker()
  const parent = await parts.addTask()
  const runs = []
  for (let index = 0; index < count; index++) {
    const id = newId('task', Date.now())
    const session = newId('session', Date.now())
    const rest = { priority: 0, rank: 0, tags: [], extraArgs: [], attended: false, boundTo: null, at: new Date() }
    await insertTask(parts.db, {
      ...{ id, session: { id: session, isNew: true }, agent: commandAgent(['true']), prompt: `part ${index}` },
      ...{ workspace: `/tmp/${id}`, workspaceOwn: true, parent: { id: parent.id, rootId: parent.id, depth: 0 } },
      ...rest,
    })
    const run = await parts.admit({ id, session }, 1, worker)
    await parts.lease(run, worker)
    runs.push(run)
  }
  if (state === 'blocked')
    await sql`update pawl.tasks set state = 'blocked', reason = '{"kind":"subtasks"}' where id = ${parent.id}`.execute(parts.db)
  return { parent, runs, worker }
}

const requeued = async ({ db }: Parts, task: string) =>
  (await sql`select 1 from pawl.events where task_id = ${task} and type = 'task.requeued'`.execute(db)).rows.length

it('of subtasks that end at the same moment in two processes exactly one moves their parent, which hears of all', async () => {
  const parts = await makeParts()
  const other = await another(parts)
  for (let round = 0; round < 12; round++) {
    const { parent, runs } = await family(parts, 3)
    const settlers = [parts.settler, other.settler, parts.settler]
    await Promise.all(
      runs.map((run, index) => settlers[index]!.settleRun(run, { outcome: 'succeeded', text: `result ${index}` })),
    )
    expect(await requeued(parts, parent.id)).toBe(1)
    const task = await findTask(parts.db, parent.id)
    expect(task).toMatchObject({ state: 'queued', continuation: { kind: 'subtasks' } })
    expect(JSON.stringify(task?.continuation)).toMatch(/result 0.*result 1.*result 2/)
  }
})

it('a parent whose run ends at the same moment as its last subtask neither waits for ever nor misses it', async () => {
  const parts = await makeParts()
  const other = await another(parts)
  for (let round = 0; round < 12; round++) {
    const { parent, runs, worker } = await family(parts, 1, 'running')
    const run = await parts.admit(parent, 1, worker)
    await parts.lease(run, worker)
    await Promise.all([
      parts.settler.settleRun(run, { outcome: 'succeeded', text: 'split' }),
      other.settler.settleRun(runs[0]!, { outcome: 'succeeded', text: 'done' }),
    ])
    const task = await findTask(parts.db, parent.id)
    expect(task).toMatchObject({ state: 'queued', continuation: { kind: 'subtasks', results: [{ text: 'done' }] } })
    expect(await requeued(parts, parent.id)).toBe(1)
  }
})

it('a tree that is cancelled while its subtasks end is cancelled whole, and nobody waits for the other', async () => {
  const parts = await makeParts()
  const other = await another(parts)
  for (let round = 0; round < 8; round++) {
    const { parent, runs } = await family(parts, 3)
    const cancelling = whileItGrows(() =>
      parts.journal.transact('task.cancel', (tx, record) =>
        cancelTree({ tx, record, at: new Date() }, parent.id, { now: false, by: 'test' }),
      ),
    )
    const ends = runs.map((run) => other.settler.settleRun(run, { outcome: 'succeeded', text: '' }))
    await Promise.all([cancelling, ...ends])
    const { rows } = await sql<{ id: string; state: string; cancel: string | null }>`
      select id, state, cancel from pawl.tasks where root_id = ${parent.id}
    `.execute(parts.db)
    const states = rows.map(({ id, state }) => [id === parent.id ? 'parent' : 'subtask', state])
    expect(states.filter(([who]) => who === 'parent')).toEqual([['parent', 'cancelled']])
    for (const [who, state] of states) if (who === 'subtask') expect(['completed', 'cancelled']).toContain(state)
  }
})
