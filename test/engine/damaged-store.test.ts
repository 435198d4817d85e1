import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { openStore } from '../../src/store/open.ts'
import { makeHome, startEngine } from './home.ts'

it('a damaged page of the database is told at the start as a sentence that says what to do', async () => {
  const home = await makeHome()
  onTestFinished(() => home.remove())
  const store = await openStore({ home: home.path, url: undefined, log: silentLog })
  const { rows } = await sql<{ path: string }>`select pg_relation_filepath('pawl.migrations') as path`.execute(store.database.db)
  await store.close()
  const file = await open(join(home.path, 'postgres/data', rows[0]!.path), 'r+')
  await file.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, 2_048)
  await file.close()
  await expect(startEngine(home.path)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/database is damaged.*pawl restore/s),
  })
})
