import { statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { TestClock } from 'pg-boss'
import { expect, it, onTestFinished } from 'vitest'
import { armFailpoint } from '../../src/base/failpoint.ts'
import { silentLog } from '../../src/base/log.ts'
import { openStore } from '../../src/store/open.ts'
import { commandAgent, makeHome, startEngine, until } from './home.ts'
import { makeParts } from './store.ts'
import { HandClock } from './test-clock.ts'

const second = 1_000

it('a worker is declared dead for its own silence only, not for the time in which nobody could look', async () => {
  const clock = new HandClock()
  const parts = await makeParts(undefined, { clock })
  await parts.dispatch.start()
  onTestFinished(() => parts.dispatch.stop())
  const other = await parts.addWorker()
  const isAlive = async () => {
    const { rows } = await sql`select from pawl.workers where id = ${other} and ended_at is null`.execute(parts.db)
    return rows.length === 1
  }
  const look = async (afterMs: number) => {
    clock.advance(afterMs)
    await parts.recovery.look()
    return isAlive()
  }
  await parts.recovery.look()
  // The database answers after 25 s, and once more after a minute: nobody could beat either.
  expect(await look(25 * second)).toBe(true)
  expect(await look(60 * second)).toBe(true)
  expect(await look(2 * second)).toBe(true)
  await sql`update pawl.workers set beat = beat + 1 where id = ${other}`.execute(parts.db)
  for (let looks = 0; looks < 8; looks++) expect(await look(2 * second)).toBe(true)
  expect(await look(2 * second)).toBe(false)
})

/** An engine whose time is moved by hand, with one agent that leaves a mark every few milliseconds until it finds the file `finish`. */
async function withMarkingAgent(profile: 'guarded' | 'unattended-open') {
  const home = await makeHome()
  const clock = new HandClock()
  const daemon = await startEngine(home.path, { clock, queueClock: new TestClock(clock.now()) })
  onTestFinished(async () => {
    await daemon.stop()
    await home.remove()
  })
  const script = 'while [ ! -e finish ]; do echo x >> marks; sleep 0.02; done; echo done'
  const agentConfig = commandAgent(['/bin/sh', '-c', script], { profile, timeoutMs: null, idleTimeoutMs: 30 * second })
  const { task } = await daemon.runtime.createTask({ prompt: 'mark', agentConfig }, { by: 'test' })
  const file = join(task.workspace, 'marks')
  const marks = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  await until(() => marks() > 5)
  const isStill = async () => {
    const before = marks()
    await pause(200)
    return marks() === before
  }
  const pass = async (ms: number) => {
    for (let gone = 0; gone < ms; gone += second) {
      clock.advance(second)
      await pause(5)
    }
  }
  const finish = async () => {
    await writeFile(join(task.workspace, 'finish'), '')
    await until(async () => (await daemon.runtime.getTask(task.id)).state === 'completed')
    return (await daemon.runtime.getTask(task.id)).runs.map(({ outcome }) => outcome)
  }
  return { home, daemon, marks, isStill, pass, finish }
}

it.each(['guarded', 'unattended-open'] as const)(
  'an agent (%s) stands still while its lease is not confirmed, and goes on with the same run afterwards',
  async (profile) => {
    const { marks, isStill, pass, finish } = await withMarkingAgent(profile)
    const answer = Promise.withResolvers<void>()
    armFailpoint('heartbeat.before', () => answer.promise)
    await pass(8 * second)
    expect(await isStill()).toBe(false)
    // Longer than it may be silent: standing still is no silence of its own.
    await pass(60 * second)
    await until(isStill)
    answer.resolve()
    const before = marks()
    await until(async () => {
      await pass(second)
      return marks() > before
    })
    expect(await finish()).toEqual(['succeeded'])
  },
)

it('a worker that others have declared dead ends its agents, registers again and takes the task up anew', async () => {
  const { home, daemon, marks, pass, finish } = await withMarkingAgent('guarded')
  const store = await openStore({ home: home.path, url: undefined, log: silentLog })
  onTestFinished(() => store.close())
  const workers = async () => {
    const { rows } = await sql<{ id: string; ended: boolean }>`
      select id, ended_at is not null as ended from pawl.workers order by started_at, id`.execute(store.database.db)
    return rows
  }
  const [first] = await workers()
  await sql`update pawl.workers set ended_at = now() where id = ${first!.id}`.execute(store.database.db)
  await pass(6 * second)
  await until(async () => (await workers()).some(({ ended }) => !ended))
  expect((await workers()).map(({ ended }) => ended)).toEqual([true, false])
  const before = marks()
  await until(async () => {
    await pass(second)
    return marks() > before
  })
  expect(await finish()).toEqual(['lost', 'succeeded'])
  expect((await daemon.runtime.health()).tasks).toMatchObject({ completed: 1 })
})
