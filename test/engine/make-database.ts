import { silentLog } from '../../src/base/log.ts'
import { newId } from '../../src/domain/id.ts'
import { createDispatch, queueSchemaVersion } from '../../src/engine/queue/dispatch.ts'
import { migrateStore } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import type { Form } from './ready-database.ts'

/** The database of a home; a `ready` one with our schema and the queue's, with nothing in them. */
export async function makeDatabase(home: string, form: Form): Promise<void> {
  const { database, close } = await openStore({ home, url: undefined, log: silentLog })
  if (form === 'ready') {
    await migrateStore(database, { now: new Date(), queueVersion: queueSchemaVersion })
    const dispatch = createDispatch({ database, worker: newId('worker', Date.now()), shared: true, log: silentLog })
    await dispatch.start()
    await dispatch.stop()
  }
  await close()
}
