import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createThreadBeater } from '../../src/engine/beat/beater.ts'
import { until } from './home.ts'
import { makeParts } from './store.ts'

async function withBeater() {
  const parts = await makeParts()
  const { database, db, log, addWorker } = parts
  const beater = createThreadBeater({ db, clock: systemClock, connection: database.connection, endsHung: false, log })
  onTestFinished(() => beater.close())
  const worker = await addWorker()
  const beats = async () => {
    const { rows } = await sql<{ beat: number }>`select beat from pawl.workers where id = ${worker}`.execute(db)
    return rows[0]!.beat
  }
  return { ...parts, beater, worker, beats }
}

/** Nothing on this thread moves. */
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('a beat is counted on a connection of its own, and says what the worker holds', async () => {
  const { beater, worker, beats, addTask, admit, lease } = await withBeater()
  expect(beater.confirmedAgoMs()).toBe(Number.POSITIVE_INFINITY)
  expect(await beater.beat(worker, true)).toEqual({ runs: [], cancelled: [] })
  expect(await beats()).toBe(1)
  expect(beater.confirmedAgoMs()).toBeLessThan(20_000)
  const run = await admit(await addTask(), 1, worker)
  await lease(run, worker)
  expect(await beater.beat(worker, true)).toEqual({ runs: [run.id], cancelled: [] })
})

it('a worker without runs has no thread, and one with runs need not be asked for its beat', { timeout: 60_000 }, async () => {
  const { beater, worker, beats } = await withBeater()
  expect(await beater.beat(worker, false)).toEqual({ runs: [], cancelled: [] })
  expect(await beats()).toBe(1)
  expect(beater.confirmedAgoMs()).toBe(Number.POSITIVE_INFINITY)
  beater.goAlone(worker)
  await until(async () => (await beats()) > 1, 30_000)
  expect(beater.confirmedAgoMs()).toBeLessThan(20_000)
})

it('a worker that others have declared dead hears of it, and its beat confirms nothing', async () => {
  const { db, beater, worker } = await withBeater()
  await sql`update pawl.workers set ended_at = now() where id = ${worker}`.execute(db)
  expect(await beater.beat(worker, true)).toBeUndefined()
  expect(beater.confirmedAgoMs()).toBe(Number.POSITIVE_INFINITY)
})

it('beats go on while this thread stands still, and stop when nobody has asked for half a minute', {
  timeout: 120_000,
}, async () => {
  const { beater, worker, beats } = await withBeater()
  await beater.beat(worker, true)
  standStill(12_000)
  expect(beater.confirmedAgoMs()).toBeLessThan(10_000)
  const during = await beats()
  expect(during).toBeGreaterThan(1)
  await until(async () => {
    const before = await beats()
    await pause(7_000)
    return (await beats()) === before
  }, 60_000)
  await beater.beat(worker, true)
  expect(beater.confirmedAgoMs()).toBeLessThan(10_000)
})

it('a beat fails while its connection is gone, and the next one finds another', async () => {
  const { db, beater, worker } = await withBeater()
  await beater.beat(worker, true)
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where query like '%set beat = beat + 1%' and pid <> pg_backend_pid()`.execute(db)
  expect(rows).toHaveLength(1)
  await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(db)
  await until(() =>
    beater.beat(worker, true).then(
      () => true,
      () => false,
    ),
  )
  expect(beater.confirmedAgoMs()).toBeLessThan(20_000)
})
