import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type SilentProxy, silentProxy } from '../../test/silent-proxy.ts'
import { silentLog } from '../base/log.ts'
import { type Patience, usualPatience } from './connection-watch.ts'
import { type Database, isConnectionLoss, openDatabase } from './database.ts'
import { type EmbeddedServer, openEmbedded } from './embedded/server.ts'
import { usedHome } from './embedded/testing.ts'

const quick: Patience = { suspectMs: 200, confirmMs: 100, mostMs: 60_000, pingMs: 200 }

let server: EmbeddedServer
let removeHome: () => Promise<void>
beforeAll(async () => {
  const home = await usedHome((remove) => {
    removeHome = remove
  })
  server = await openEmbedded({ home, log: silentLog })
})
afterAll(async () => {
  await server.release()
  await removeHome()
})

/** A database behind a network that can fall silent. */
async function behindProxy(patience = quick): Promise<{ database: Database; proxy: SilentProxy }> {
  const { host, ...connection } = server.connection
  const proxy = await silentProxy({ path: `${host}/.s.PGSQL.${connection.port ?? 5432}` })
  const database = await openDatabase({
    connection: { ...connection, host: '127.0.0.1', port: proxy.port },
    applicationName: 'pawl test',
    log: silentLog,
    patience,
  })
  onTestFinished(async () => {
    await database.close()
    proxy.close()
  })
  return { database, proxy }
}

const ask = (database: Database) => sql<{ one: number }>`select 1 as one`.execute(database.db)
const failureOf = (work: Promise<unknown>) => work.then(() => 'none').catch((error: unknown) => error)

test('a connection on which no answer arrives is replaced, and all that waited on it hear of a lost connection', async () => {
  const { database, proxy } = await behindProxy()
  await database.db.connection().execute(async (held) => {
    await sql`select 1`.execute(held)
    proxy.silence()
    const waiting = [sql`select 1`.execute(held), sql`select 2`.execute(held)].map(failureOf)
    // Whoever comes meanwhile gets a connection that works.
    expect((await ask(database)).rows).toEqual([{ one: 1 }])
    for (const failure of await Promise.all(waiting)) expect(isConnectionLoss(failure), String(failure)).toBe(true)
  })
  expect((await ask(database)).rows).toEqual([{ one: 1 }])
})

test('a transaction that falls silent half way is undone, and may be begun again', async () => {
  const { database, proxy } = await behindProxy()
  await sql`create table t (a int)`.execute(database.db)
  const done = database.db.transaction().execute(async (tx) => {
    await sql`insert into t values (1)`.execute(tx)
    proxy.silence()
    await sql`insert into t values (2)`.execute(tx)
  })
  expect(isConnectionLoss(await failureOf(done))).toBe(true)
  expect((await sql`select * from t`.execute(database.db)).rows).toEqual([])
})

test('while the server answers nobody no connection is broken, and all goes on when it comes back', async () => {
  const { database, proxy } = await behindProxy()
  await ask(database)
  proxy.stall()
  const asked = [ask(database), ask(database), ask(database)]
  await new Promise((done) => setTimeout(done, 1_000))
  proxy.goOn()
  for (const { rows } of await Promise.all(asked)) expect(rows).toEqual([{ one: 1 }])
})

test('a slow statement, and one that waits for a lock, is no silence', async () => {
  const { database } = await behindProxy()
  const slow = sql`select pg_sleep(1)`.execute(database.db)
  const locked = database.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(tx)
    const other = sql`select pg_advisory_lock(1)`.execute(database.db)
    await sql`select pg_sleep(1)`.execute(tx)
    return { other }
  })
  await slow
  await (await locked).other
})

test('a statement that the server should have ended long ago is given up', async () => {
  const { database } = await behindProxy({ ...quick, mostMs: 500 })
  expect(isConnectionLoss(await failureOf(sql`select pg_sleep(20)`.execute(database.db)))).toBe(true)
})

test('a connection that only listens is replaced when it falls silent, and says that something may have been missed', async () => {
  const { database, proxy } = await behindProxy()
  const heard: string[] = []
  await database.listen('news', (payload) => heard.push(payload))
  proxy.silence()
  const before = heard.length
  await expect.poll(() => heard.length).toBeGreaterThan(before)
  // The pool's own connection has fallen silent too, and the first to use it finds that out.
  await failureOf(ask(database))
  await sql`select pg_notify('news', 'again')`.execute(database.db)
  await expect.poll(() => heard.at(-1)).toBe('again')
})

test('closing does not wait for a server that is silent', async () => {
  const { database, proxy } = await behindProxy()
  await database.listen('news', () => undefined)
  await ask(database)
  proxy.stall()
  void failureOf(ask(database))
  const began = performance.now()
  await database.close()
  expect(performance.now() - began).toBeLessThan(8_000)
})

test('the server ends statements that take far too long, before they are given up', async () => {
  const { database } = await behindProxy()
  const { rows } = await sql<{ ms: string }>`select setting as ms from pg_settings where name = 'statement_timeout'`.execute(
    database.db,
  )
  expect(Number(rows[0]!.ms)).toBeGreaterThan(0)
  expect(Number(rows[0]!.ms)).toBeLessThan(usualPatience.mostMs)
})
