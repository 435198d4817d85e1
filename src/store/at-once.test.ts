import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../base/log.ts'
import { atOnce, type Statements } from './at-once.ts'
import { type Database, openDatabase } from './database.ts'
import { serverOfFile } from './embedded/testing.ts'

let server: Awaited<ReturnType<typeof serverOfFile>>
let database: Database

beforeAll(async () => {
  server = await serverOfFile()
})
afterAll(() => server.end())
beforeEach(async () => {
  database = await openDatabase({ connection: server.connection, applicationName: 'pawl test', log: silentLog })
  await database.pool.query('create table t (a int primary key)')
  onTestFinished(async () => {
    await database.pool.query('drop table t')
    await database.close()
  })
})

const insert = (to: Statements, a: number) => sql`insert into t values (${a})`.execute(to)
const all = async (to: Statements) => (await sql<{ a: number }>`select a from t order by a`.execute(to)).rows.map(({ a }) => a)

test('statements that are sent together are carried out in their order', async () => {
  const seen = await database.db
    .transaction()
    .execute((tx) => atOnce(tx, (one) => [all(one), insert(one, 1), all(one), insert(one, 2), all(one)]))
  expect([seen[0], seen[2], seen[4]]).toEqual([[], [1], [1, 2]])
})

test('if one of them fails nothing is stored, also of one that is sent when the others are answered', async () => {
  const late = async (one: Statements) => {
    await new Promise((waited) => setTimeout(waited, 50))
    return insert(one, 3)
  }
  const failing = database.db
    .transaction()
    .execute((tx) => atOnce(tx, (one) => [insert(one, 1), sql`select ${1}::int / 0`.execute(one), insert(one, 2), late(one)]))
  await expect(failing).rejects.toThrow('division by zero')
  expect(await all(database.db)).toEqual([])
})

test('what is sent behind a lock sees what the lock was waited for', async () => {
  const lock = (to: Statements) => sql`select pg_advisory_xact_lock(${7})`.execute(to)
  const isLocked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const first = database.db.transaction().execute(async (tx) => {
    await lock(tx)
    isLocked.resolve()
    await goOn.promise
    await insert(tx, 1)
  })
  await isLocked.promise
  const second = database.db.transaction().execute((tx) => atOnce(tx, (one) => [lock(one), all(one)]))
  goOn.resolve()
  await first
  expect((await second)[1]).toEqual([1])
})
