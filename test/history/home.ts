import { silentLog } from '../../src/base/log.ts'
import { queueSchemaVersion } from '../../src/engine/queue/dispatch.ts'
import { migrate, migrateStore } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openStore } from '../../src/store/open.ts'
import { makeHome } from '../engine/ready-database.ts'
import { seedHistory } from './seed.ts'

/** A home of a Pawl before schema 32 that has done so many tasks, brought to this schema as a start does. `setup` is what each connection runs before its first use. */
export async function homeWithHistory({ tasks, now, setup = [] }: { tasks: number; now: Date; setup?: string[] }) {
  const home = await makeHome(undefined, { bare: true })
  const store = await openStore({ home: home.path, url: undefined, log: silentLog })
  const { database } = store
  const client = await database.alone()
  let migratedMs: number
  try {
    await migrate(
      client,
      now,
      migrations.filter(({ id }) => id < 32),
    )
    await seedHistory(client, { tasks, now })
    const since = performance.now()
    await migrateStore(database, { now, queueVersion: queueSchemaVersion })
    migratedMs = performance.now() - since
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
  await database.setSessionStatements(setup)
  return {
    home: home.path,
    database,
    /** How long the start took that brought it to this schema. */
    migratedMs,
    async close() {
      await store.close()
      await home.remove()
    },
  }
}
