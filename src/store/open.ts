import type { Log } from '../base/log.ts'
import { type Database, openDatabase } from './database.ts'
import { type EmbeddedServer, openEmbedded } from './embedded/server.ts'

/** The database of a home: the bundled server, or the one a URL names. */
export interface Store {
  readonly database: Database
  readonly kind: 'embedded' | 'url'
  readonly serverVersion: string
  /** The bundled server's process, where there is one. */
  readonly serverPid: number | undefined
  close(): Promise<void>
}

export async function openStore(options: { home: string; url: string | undefined; log: Log }): Promise<Store> {
  const { home, url, log } = options
  const server = url === undefined ? await keepEmbedded(home, log) : undefined
  try {
    const connection = server ? server.current.connection : { connectionString: url }
    const database = await openDatabase({ connection, applicationName: 'pawl', log })
    const { rows } = await database.pool.query<{ server_version: string }>('show server_version')
    return {
      database,
      kind: server ? 'embedded' : 'url',
      serverVersion: rows[0]?.server_version ?? '',
      get serverPid() {
        return server?.current.pid
      },
      async close() {
        server?.leave()
        await database.close()
        await server?.current.release()
      },
    }
  } catch (error) {
    server?.leave()
    await server?.current.release()
    throw error
  }
}

/** The bundled server dies alone at times (out of memory, a kill): it is started again, and everybody's next query finds it. */
async function keepEmbedded(home: string, log: Log): Promise<{ readonly current: EmbeddedServer; leave(): void }> {
  let current = await openEmbedded({ home, log })
  let isLeaving = false
  const watch = async (server: EmbeddedServer): Promise<void> => {
    await server.lost
    while (!isLeaving) {
      try {
        log.warn('the embedded database is gone; starting it again', { reason: 'database_lost' })
        await server.release()
        current = await openEmbedded({ home, log })
        return watch(current)
      } catch (error) {
        log.error('the embedded database does not start', { error: String(error) })
        await new Promise((again) => setTimeout(again, 500))
      }
    }
  }
  void watch(current)
  return {
    get current() {
      return current
    },
    leave() {
      isLeaving = true
    },
  }
}
