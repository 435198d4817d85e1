import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import { processIdentity } from '../../src/sandbox/process/identity.ts'
import { registerWorker } from '../../src/store/workers.ts'
import { makeVerbs } from './verbs.ts'

const ends: (() => Promise<void>)[] = []
let world: Awaited<ReturnType<typeof makeVerbs>>
beforeAll(async () => {
  world = await makeVerbs({ runsNothing: true, onEnd: (end) => ends.push(end) })
})
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

/** A task that runs on a worker with this identity. */
async function runOn(identity: { bootId: string; pid: number; startTime: number }, seenAt = new Date()): Promise<string> {
  const { add, admit, lease, db } = world
  const worker = newId('worker', Date.now())
  await registerWorker(db, { id: worker, host: 'here', ...identity, startTime: String(identity.startTime) }, seenAt)
  const task = await add()
  await lease(await admit({ id: task.id, session: task.session }, 1, worker), worker)
  return task.id
}
const isInterrupted = async (id: string) => {
  const { verbs } = world
  const shown = (await verbs.getTask(id)).interrupted ?? false
  const listed = (await verbs.listTasks({ states: ['running'], limit: 50 })).items.find((task) => task.id === id)
  expect(listed?.interrupted ?? false).toBe(shown)
  return shown
}

it('a running task is told to be interrupted once its process is gone, and not before', async () => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  try {
    await once(child, 'spawn')
    const id = await runOn(processIdentity(child.pid))
    expect(await isInterrupted(id)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await isInterrupted(id)).toBe(true)
  } finally {
    child.kill('SIGKILL')
  }
})

it('a worker of another machine, or before the last start of this one, is gone when it has not been seen for a minute', async () => {
  const elsewhere = { ...processIdentity(), bootId: 'another.1' }
  expect(await isInterrupted(await runOn(elsewhere))).toBe(false)
  expect(await isInterrupted(await runOn(elsewhere, new Date(Date.now() - 61_000)))).toBe(true)
})

it('a run whose worker has left is interrupted, and so is one that nobody has taken', async () => {
  const { add, admit, addWorker, db } = world
  const worker = await addWorker()
  const task = await add()
  await admit({ id: task.id, session: task.session }, 1, worker)
  expect(await isInterrupted(task.id)).toBe(false)
  await sql`update pawl.workers set ended_at = ${new Date()} where id = ${worker}`.execute(db)
  expect(await isInterrupted(task.id)).toBe(true)
})
