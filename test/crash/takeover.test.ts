import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { findViolations, processesOf } from './check.ts'
import { CrashHome, pause } from './home.ts'
import { type Acknowledged, create, marksOf } from './scenario.ts'

/** What PROMISES §1.2 names for one machine. */
const takeoverMs = 5_000

let home: CrashHome
afterEach(() => home.close())

/** A daemon that runs two tasks, one inside walls and one without, and a second engine that has nothing to do. */
async function twoEngines(tag: string) {
  home = new CrashHome()
  await home.start()
  const tasks = [await create(home, { kind: 'stall-once', tag }), await create(home, { kind: 'stall-once', tag: `${tag}-walled`, walled: true })]
  const views = await Promise.all(tasks.map((task) => home.ask((client) => client.getTask(task.id))))
  await until('both agents work', 20_000, () => views.every((view) => marksOf(view).length > 0))
  const worker = await home.startWorker()
  const begunAgain = () => views.every((view) => marksOf(view).filter((mark) => mark.what === 'begin').length === 2)
  return { tasks, views, worker, begunAgain }
}

test('the tasks of a killed daemon run again in another process within 5 s', { timeout: 90_000 }, async () => {
  const { tasks, views, worker, begunAgain } = await twoEngines('takeover')
  home.startsAgain = false
  const killedAt = uptime()
  home.killDaemon()
  await until('both agents work again', 20_000, begunAgain)
  for (const view of views) expect((marksOf(view).at(1)!.at - killedAt) * 1000).toBeLessThan(takeoverMs)
  home.startsAgain = true
  await home.start()
  expect(await violations(tasks)).toEqual([])
  const gone = once(worker, 'exit')
  worker.kill('SIGTERM')
  await gone
})

test('behind walls nothing of an agent outlives its daemon by 2 s, though nobody is there to end it', { timeout: 60_000 }, async () => {
  home = new CrashHome()
  await home.start()
  const task = await create(home, { kind: 'hang', tag: 'alone', walled: true })
  const view = await home.ask((client) => client.getTask(task.id))
  await until('the agent works', 20_000, () => marksOf(view).length > 0)
  home.startsAgain = false
  const run = marksOf(view)[0]!.run
  expect(processesOf([run])).not.toEqual([])
  home.killDaemon()
  await until('its processes are gone', 2_000, () => processesOf([run]).length === 0)
})

test('a daemon that was frozen for longer than its lease finds its runs taken, writes nothing of them and stops', { timeout: 120_000 }, async () => {
  const { tasks, worker, begunAgain } = await twoEngines('zombie')
  const frozen = home.pid
  home.killDaemon('SIGSTOP')
  await until('both agents work again', 40_000, begunAgain)
  home.killDaemon('SIGCONT')
  // It ends by itself when it hears that others have declared it dead, and is started again like any service.
  await until('the frozen daemon has ended', 20_000, () => home.pid !== frozen)
  expect(await violations(tasks)).toEqual([])
  const gone = once(worker, 'exit')
  worker.kill('SIGTERM')
  await gone
})

async function violations(tasks: readonly Acknowledged[]): Promise<string[]> {
  for (const task of tasks) {
    for (let tries = 0; (await home.ask((client) => client.getTask(task.id))).state !== 'completed'; tries++) {
      if (tries > 1_000) return [`C9: ${task.id} does not end`]
      await pause(20)
    }
  }
  return (await Promise.all(tasks.map((task) => findViolations(home, [task], task.body.tags![0]!)))).flat()
}

async function until(what: string, withinMs: number, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}. The daemon's log is ${home.dir}/daemon.log`)
    await pause(10)
  }
}

const uptime = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0])
