import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../base/log.ts'
import { isConnectionLoss, isPassing, openDatabase } from './database.ts'
import { openEmbedded } from './embedded/server.ts'
import { usedHome } from './embedded/testing.ts'

test('a database that is away is told from a file that is missing, and a moment from a mistake', async () => {
  const server = await openEmbedded({ home: await usedHome(), log: silentLog })
  const database = await openDatabase({ connection: server.connection, applicationName: 'pawl test', log: silentLog })
  onTestFinished(async () => {
    await database.close()
    await server.release()
  })
  const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

  const missing = await errorOf(readFile('/no/such/file'))
  const raise = (code: string) =>
    errorOf(sql.raw(`do $$ begin raise exception 'x' using errcode = '${code}'; end $$`).execute(database.db))
  const [full, deadlock, serial, overflow] = [
    await raise('53100'),
    await raise('40P01'),
    await raise('40001'),
    await raise('22003'),
  ]
  process.kill(server.pid, 'SIGKILL')
  let away: unknown
  while (away === undefined) away = await errorOf(sql`select 1`.execute(database.db))

  expect([missing, away, full, overflow].map(isConnectionLoss)).toEqual([false, true, false, false])
  expect([missing, away, full, deadlock, serial, overflow].map(isPassing)).toEqual([false, true, true, true, true, false])
})

test('a transaction whose process is stopped in the middle of it is ended by the server, which is a lost connection and no mistake', async () => {
  const server = await openEmbedded({ home: await usedHome(), log: silentLog })
  const database = await openDatabase({ connection: server.connection, applicationName: 'pawl test', log: silentLog })
  onTestFinished(async () => {
    await database.close()
    await server.release()
  })
  const set = await sql<{
    ms: string
  }>`select setting as ms from pg_settings where name = 'idle_in_transaction_session_timeout'`.execute(database.db)
  expect(set.rows).toEqual([{ ms: '30000' }])
  const error = await database.db
    .transaction()
    .execute(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout = 50`.execute(tx)
      await sql`select pg_advisory_xact_lock(1)`.execute(tx)
      // Another one gets the lock although this one never lets go of it.
      await sql`select pg_advisory_lock(1)`.execute(database.db)
      await sql`select 1`.execute(tx)
    })
    .catch((caught: unknown) => caught)
  expect([isConnectionLoss(error), isPassing(error)], String(error)).toEqual([true, true])
})
