import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../base/log.ts'
import { openDatabase } from './database.ts'
import { serverOfFile } from './embedded/testing.ts'

let server: Awaited<ReturnType<typeof serverOfFile>>
beforeAll(async () => {
  server = await serverOfFile()
})
afterAll(() => server.end())

async function open() {
  const database = await openDatabase({ connection: server.connection, applicationName: 'pawl test', log: silentLog })
  onTestFinished(async () => {
    await database.pool.query('drop table if exists t')
    await database.close()
  })
  return database
}

test('a statement with parameters is planned once per connection', async () => {
  const { db } = await open()
  const names = await db.connection().execute(async (one) => {
    for (const n of [1, 2, 3]) await sql`select ${n}::int as n`.execute(one)
    return sql<{ statement: string }>`select statement from pg_prepared_statements where name like 'pawl%'`.execute(one)
  })
  expect(names.rows).toEqual([{ statement: 'select $1::int as n' }])
})

test('a table that another program has changed fails one statement at most', async () => {
  const { db, pool } = await open()
  await pool.query('create table t (a int)')
  const look = () =>
    db.connection().execute(async (one) => (await sql`select * from t where a is distinct from ${7}`.execute(one)).rows)
  expect(await look()).toEqual([])
  await pool.query('alter table t add column b int')
  await pool.query('insert into t values (1, 2)')
  await expect(look()).rejects.toThrow('cached plan')
  expect(await look()).toEqual([{ a: 1, b: 2 }])
})

test('rows are read alike however often their statement is sent, with a failure in between and at once', async () => {
  const { db, pool } = await open()
  await pool.query('create table t (a int, at timestamptz, data jsonb)')
  const at = new Date('2031-02-03T04:05:06.789Z')
  await db.connection().execute(async (one) => {
    for (const a of [1, 2]) await sql`insert into t values (${a}, ${at}, ${'{"b":[1]}'}::jsonb)`.execute(one)
    const rows = async (a: number) =>
      (await sql`select *, ${10}::int / ${a}::int as part from t where a = ${a}`.execute(one)).rows
    expect(await rows(1)).toEqual([{ a: 1, at, data: { b: [1] }, part: 10 }])
    expect(await rows(2)).toEqual([{ a: 2, at, data: { b: [1] }, part: 5 }])
    await expect(rows(0)).rejects.toThrow('division by zero')
    await expect(sql`select ${10}::int / ${0}::int as part`.execute(one)).rejects.toThrow('division by zero')
    await expect(sql`select ${10}::int / ${0}::int as part`.execute(one)).rejects.toThrow('division by zero')
    expect((await sql`select ${10}::int / ${5}::int as part`.execute(one)).rows).toEqual([{ part: 2 }])
    expect(await rows(1)).toEqual([{ a: 1, at, data: { b: [1] }, part: 10 }])
  })
})

test.each(['0044-03-15T12:00:00Z', '1969-07-20T20:17:40Z', '+012026-01-01T00:00:00Z'])(
  'the time %s is stored as it is',
  async (text) => {
    const { db } = await open()
    const at = new Date(text)
    const { rows } = await sql<{ ms: number }>`select extract(epoch from ${at}::timestamptz) * 1000 as ms`.execute(db)
    expect(rows[0]!.ms).toBe(at.getTime())
  },
)
