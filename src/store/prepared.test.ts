import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
import { openDatabase } from './database.ts'
import { openEmbedded } from './embedded/server.ts'
import { usedHome } from './embedded/testing.ts'

async function open() {
  const server = await openEmbedded({ home: await usedHome(), log: silentLog })
  const database = await openDatabase({ connection: server.connection, applicationName: 'pawl test', log: silentLog })
  onTestFinished(async () => {
    await database.close()
    await server.release()
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
