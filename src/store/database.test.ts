import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
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
