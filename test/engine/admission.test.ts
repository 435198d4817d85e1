import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { type Daemon, openRuntime } from '../../src/daemon/daemon.ts'
import { createDispatch } from '../../src/engine/queue/dispatch.ts'
import { openStore } from '../../src/store/open.ts'
import { findTask } from '../../src/store/tasks.ts'
import { whatTheyWaitFor } from '../../src/store/waiting.ts'
import { commandAgent, eventsUntil, isResting, loadTestConfig, makeHome, startEngine } from './home.ts'
import { makeParts } from './store.ts'
import { agentWith, day, hour, makeWorld, minute } from './weeks/world.ts'

describe('admission', () => {
  let home: Awaited<ReturnType<typeof makeHome>>
  beforeAll(async () => {
    home = await makeHome()
  })
  afterAll(() => home.remove())

  /** Queues while nothing runs, so that the order is decided by admission alone. */
  const queue = async (tasks: readonly { agent: string; command?: string; priority?: number; workspace?: string }[]) => {
    const look = await openRuntime({ config: await loadTestConfig(home.path), log: silentLog })
    const ids: string[] = []
    for (const { agent, command = 'true', priority, workspace } of tasks) {
      const agentConfig = commandAgent(['/bin/sh', '-c', command], { name: agent })
      const { task } = await look.runtime.createTask(
        { prompt: 'x', agentConfig, ...(priority === undefined ? {} : { priority }), ...(workspace ? { workspace } : {}) },
        { by: 'test' },
      )
      ids.push(task.id)
    }
    await look.stop()
    return ids
  }
  const engine = async (limits: { running: number; perAgent?: Record<string, number> }): Promise<Daemon> => {
    const config = await loadTestConfig(home.path)
    return startEngine(home.path, { config: { ...config, limits: { ...config.limits, perAgent: {}, ...limits } } })
  }
  const startTimes = async (daemon: Daemon, ids: readonly string[]) =>
    Promise.all(
      ids.map(async (id) => {
        await eventsUntil(daemon, id, isResting)
        return Date.parse((await daemon.runtime.getTask(id)).runs[0]!.startedAt!)
      }),
    )

  it('starts a higher priority first and otherwise whoever waits longest', async () => {
    const ids = await queue([{ agent: 'a' }, { agent: 'a', priority: -1 }, { agent: 'a', priority: 1 }, { agent: 'a' }])
    const daemon = await engine({ running: 1 })
    const [first, low, high, second] = (await startTimes(daemon, ids)) as [number, number, number, number]
    await daemon.stop()
    expect([high, first, second, low]).toEqual([high, first, second, low].toSorted((a, b) => a - b))
  })

  it('is not held up by tokens of runs that were cancelled before they were admitted', async () => {
    const daemon = await engine({ running: 1 })
    const { database, close } = await openStore({ home: home.path, url: undefined, log: silentLog })
    const dispatch = createDispatch({ database, worker: 'test', shared: true, log: silentLog })
    await dispatch.start()
    const stale = Array.from({ length: 40 }, (_, n) => `r_gone${n}`)
    await database.db.transaction().execute((tx) => dispatch.enqueue(tx, stale))
    await dispatch.stop()
    await close()
    const agentConfig = commandAgent(['/bin/true'])
    const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig }, { by: 'test' })
    // Only a look every five seconds would come to it after minutes.
    await eventsUntil(daemon, task.id, isResting, 20_000)
    expect((await daemon.runtime.getTask(task.id)).state).toBe('completed')
    await daemon.stop()
  }, 40_000)

  it('lets 199 lanes run while one lane of 200 is full', async () => {
    const world = await makeWorld({ running: 8, perAgent: { full: 1 } })
    for (let n = 0; n < 50; n++) await world.add(agentWith('full'))
    world.runsTake(day)
    await world.pass(1)
    for (let n = 0; n < 199; n++) await world.add(agentWith(`lane-${n}`))
    world.runsTake(minute)
    await world.pass(hour)
    const states = (await world.tasks()).map(({ agent, state }) => `${agent.replace(/-.*/, '')} ${state}`)
    const counts = [...Map.groupBy(states, (one) => one)].map(([one, all]) => [one, all.length])
    expect(Object.fromEntries(counts)).toEqual({ 'full running': 1, 'full queued': 49, 'lane completed': 199 })
    await world.stop()
  }, 60_000)

  it('runs tasks of one workspace one after another and those of two at once', async () => {
    const shared = `${home.path}/shared`
    const other = `${home.path}/other`
    const { mkdir, chmod, readFile } = await import('node:fs/promises')
    for (const folder of [shared, other]) {
      await mkdir(folder)
      await chmod(folder, 0o777)
    }
    const command =
      'echo "begin $(cut -d" " -f1 /proc/uptime)" >> marks; sleep 0.3; echo "end $(cut -d" " -f1 /proc/uptime)" >> marks'
    const ids = await queue([
      { agent: 'a', command, workspace: shared },
      { agent: 'b', command, workspace: shared },
      { agent: 'c', command, workspace: other },
    ])
    const daemon = await engine({ running: 4 })
    const [first, second, third] = (await startTimes(daemon, ids)) as [number, number, number]
    await daemon.stop()
    const words = (await readFile(`${shared}/marks`, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    expect(words).toEqual(['begin', 'end', 'begin', 'end'])
    expect(third).toBeLessThan(Math.max(first, second))
  })

  it('never starts more than the limit allows', async () => {
    const ids = await queue(Array.from({ length: 12 }, (_, n) => ({ agent: `x${n}`, command: 'sleep 0.1' })))
    const daemon = await engine({ running: 3 })
    let most = 0
    const watch = setInterval(async () => {
      most = Math.max(most, (await daemon.runtime.health()).tasks.running ?? 0)
    }, 10)
    await startTimes(daemon, ids)
    clearInterval(watch)
    await daemon.stop()
    expect(most).toBeLessThanOrEqual(3)
    expect(most).toBeGreaterThan(1)
  })
})

it('a queued task can tell that it waits for a slot, of all or of its agent', async () => {
  const { db, addTask, addWorker, admit } = await makeParts()
  const [running, queued] = [await addTask(), await addTask()]
  const waits = async (limits: { running: number; perAgent: Record<string, number> }) =>
    whatTheyWaitFor(db, [(await findTask(db, queued.id))!], limits, new Date()).then(([why]) => why)
  expect(await waits({ running: 1, perAgent: {} })).toBeNull()
  await admit(running, 1, await addWorker())
  expect(await waits({ running: 1, perAgent: {} })).toEqual({ kind: 'slot' })
  expect(await waits({ running: 9, perAgent: { helper: 1 } })).toEqual({ kind: 'slot' })
  expect(await waits({ running: 2, perAgent: { other: 1 } })).toBeNull()
})

it('a task that began since it was read does not wait for itself', async () => {
  const { db, addTask, addWorker, admit } = await makeParts()
  const task = await addTask()
  const read = (await findTask(db, task.id))!
  await admit(task, 1, await addWorker())
  expect(await whatTheyWaitFor(db, [read], { running: 1, perAgent: { helper: 1 } }, new Date())).toEqual([null])
})
