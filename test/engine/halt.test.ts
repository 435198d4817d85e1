import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { isEnded } from '../../src/domain/task/task.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
beforeAll(async () => {
  home = await makeHome()
})
afterAll(() => home.remove())

const by = { by: 'test' }
const add = async ({ runtime }: Daemon, command: string) =>
  (
    await runtime.createTask(
      { prompt: 'x', agentConfig: commandAgent(['/bin/sh', '-c', command], { name: command, graceMs: 60_000 }) },
      by,
    )
  ).task.id
const states = ({ runtime }: Daemon, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await runtime.getTask(id)).state))

it('the switch stops every agent of every worker within 15 s, keeps the queue still over a restart, and can be thrown twice', async () => {
  const one = await startEngine(home.path)
  const stubborn = await Promise.all(Array.from({ length: 3 }, () => add(one, 'trap "" TERM INT; while :; do sleep 0.1; done')))
  await until(async () => (await states(one, stubborn)).every((state) => state === 'running'))
  // A process that runs only its own task is a worker like any other.
  const other = await startEngine(home.path, { serveShared: false })
  const elsewhere = await add(other, 'sleep 1000')
  await until(async () => (await states(other, [elsewhere]))[0] === 'running')

  const startedAt = performance.now()
  const { halt, stopping } = await one.runtime.stopAll({ ...by, reason: 'they all went mad' })
  expect(halt).toMatchObject({ by: 'test', reason: 'they all went mad' })
  expect(stopping.toSorted()).toEqual([...stubborn, elsewhere].toSorted())
  await until(async () => (await states(one, [...stubborn, elsewhere])).every(isEnded), 15_000)
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  expect(await states(one, [...stubborn, elsewhere])).toEqual(Array(4).fill('cancelled'))
  expect(await one.runtime.stopAll(by)).toEqual({ halt, stopping: [] })

  const waiting = await add(one, 'true')
  expect(await one.runtime.health()).toMatchObject({ halt, tasks: { queued: 1 } })
  expect((await one.runtime.getTask(waiting)).reason?.kind).toBe('halted')
  await other.stop()
  await one.stop()

  const next = await startEngine(home.path)
  const later = await add(next, 'true')
  // A whole round of admission has passed when a task that may not start is still where it was.
  await new Promise((done) => setTimeout(done, 1_000))
  expect(await states(next, [waiting, later])).toEqual(['queued', 'queued'])
  expect(await next.runtime.resume(by)).toEqual({ resumed: true })
  for (const id of [waiting, later]) await eventsUntil(next, id, isResting)
  expect(await states(next, [waiting, later])).toEqual(['completed', 'completed'])
  expect(await next.runtime.resume(by)).toEqual({ resumed: false })
  expect((await next.runtime.health()).halt).toBeNull()

  const actions = (await next.audit.list({ limit: 100 })).items.map(({ action }) => action)
  expect(actions.filter((action) => action.startsWith('agents.'))).toEqual([
    'agents.resume',
    'agents.stop_all',
    'agents.stop_all',
  ])
  expect(actions.filter((action) => action === 'task.cancel')).toHaveLength(4)
  expect(await next.audit.verify()).toMatchObject({ isWhole: true })
  await next.stop()
}, 90_000)
