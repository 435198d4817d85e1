import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../base/log.ts'
import { type Database, openDatabase, type Tx } from './database.ts'
import { serverOfFile } from './embedded/testing.ts'
import { andCommit } from './transactions.ts'

let server: Awaited<ReturnType<typeof serverOfFile>>
let database: Database

beforeAll(async () => {
  server = await serverOfFile()
})
afterAll(() => server.end())
beforeEach(async () => {
  database = await openDatabase({ connection: server.connection, applicationName: 'pawl test', log: silentLog })
  await database.pool.query('create table t (a int primary key, b int references t deferrable initially deferred)')
  onTestFinished(async () => {
    await database.pool.query('drop table t')
    await database.close()
  })
})

const insert = (tx: Tx, a: number, b: number | null = null) => sql`insert into t values (${a}, ${b})`.execute(tx)
const insertLast = (tx: Tx, a: number, b: number | null = null) =>
  sql`insert into t values (${a}, ${b}) returning a ${andCommit}`.execute(tx)
const stored = async () => (await database.pool.query<{ a: number }>('select a from t order by a')).rows.map((row) => row.a)
const transact = <T>(work: (tx: Tx) => Promise<T>) => database.db.transaction().execute(work)

test('nobody else sees what a transaction has written before it is committed', async () => {
  await transact(async (tx) => {
    await insert(tx, 1)
    expect(await stored()).toEqual([])
    await insert(tx, 2)
    expect(await stored()).toEqual([])
  })
  expect(await stored()).toEqual([1, 2])
})

test('a transaction whose work fails leaves nothing, and its connection is good for the next one', async () => {
  for (const [index, fails] of [true, false, true, false].entries()) {
    const done = transact(async (tx) => {
      await insert(tx, index)
      if (fails) throw new Error('changed my mind')
    })
    await (fails ? expect(done).rejects.toThrow('changed my mind') : done)
  }
  expect(await stored()).toEqual([1, 3])
})

test('a first statement that fails leaves nothing, and neither does a transaction without one', async () => {
  await transact(async () => undefined)
  await expect(transact(async () => Promise.reject(new Error('at once')))).rejects.toThrow('at once')
  await expect(transact((tx) => sql`select ${1}::int / 0`.execute(tx))).rejects.toThrow('division by zero')
  await transact((tx) => insert(tx, 1))
  expect(await stored()).toEqual([1])
})

test('a last statement commits everything before it', async () => {
  await transact(async (tx) => {
    await insert(tx, 1)
    expect((await insertLast(tx, 2)).rows).toEqual([{ a: 2 }])
  })
  expect(await stored()).toEqual([1, 2])
  await transact((tx) => insertLast(tx, 3))
  await transact((tx) => insert(tx, 4))
  expect(await stored()).toEqual([1, 2, 3, 4])
})

test('a last statement that fails takes everything before it along', async () => {
  const done = transact(async (tx) => {
    await insert(tx, 1)
    await insertLast(tx, 1)
  })
  await expect(done).rejects.toMatchObject({ code: '23505' })
  await transact((tx) => insert(tx, 2))
  expect(await stored()).toEqual([2])
})

test('a commit that the server refuses is reported, also one that went out along with the last statement', async () => {
  await expect(transact((tx) => insert(tx, 1, 9))).rejects.toMatchObject({ code: '23503' })
  await expect(transact((tx) => insertLast(tx, 1, 9))).rejects.toMatchObject({ code: '23503' })
  expect(await stored()).toEqual([])
})

test('a commit after a statement that failed unheard is an error, also if it goes out along with the last statement', async () => {
  for (const last of [insert, insertLast]) {
    const done = transact(async (tx) => {
      await insert(tx, 1)
      await insert(tx, 1).catch(() => undefined)
      await last(tx, 2).catch(() => undefined)
    })
    await expect(done).rejects.toThrow('was not committed')
  }
  await transact((tx) => insert(tx, 3))
  expect(await stored()).toEqual([3])
})

test('a connection that breaks in the middle fails the transaction, and the next one gets another', async () => {
  const done = transact(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    await database.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid])
    await insertLast(tx, 1)
  })
  await expect(done).rejects.toThrow()
  await transact((tx) => insert(tx, 2))
  expect(await stored()).toEqual([2])
})
