import type { Writable } from 'node:stream'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { type Known, Statement } from './statement.ts'
import { createTransactions, keepMark } from './transactions.ts'

/**
 * A pool whose connections have the server keep its plan of each statement with parameters: ours are few, short and frequent, and planning one costs more than
 * carrying it out.
 */
export function preparing(pool: pg.Pool): PostgresPool {
  const statements = createStatements()
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  const wrapped = (client: pg.PoolClient): PostgresPoolClient => {
    const gather = gatherWrites(client)
    const known: Known = { shapes: new Map() }
    const send = (text: string, values: readonly unknown[]): Promise<pg.QueryResult> => {
      gather()
      const name = values.length > 0 || text.endsWith(keepMark) ? statements.nameOf(text) : undefined
      return new Promise((resolve, reject) => {
        const heard = (error: Error | null, result: pg.QueryResult) => {
          if (!error) return resolve(result)
          fromDatabase.add(error)
          statements.failed(error)
          reject(error)
        }
        client.query(new Statement({ text, values, name, known }, heard))
      })
    }
    const prepared = {
      query: createTransactions(send),
      release: (discard?: boolean) => client.release(discard),
      // Kysely asks for it to end a statement from another connection.
      processID: (client as { processID?: number }).processID,
    }
    // Cursors, the other form of `query`, are used nowhere.
    return prepared as unknown as PostgresPoolClient
  }
  return {
    async connect() {
      const client = await pool.connect().catch(marked)
      const prepared = clients.get(client) ?? wrapped(client)
      clients.set(client, prepared)
      return prepared
    },
    end: () => pool.end(),
  } as PostgresPool
}

/** What is sent in one moment leaves in one write: each would wake the server, which has often not yet gone back to sleep when the next one comes. */
function gatherWrites(client: pg.PoolClient): () => void {
  // Not in the types of pg. It is asked each time, because TLS puts another stream in the place of the first.
  const { connection } = client as unknown as { connection?: { readonly stream: Partial<Pick<Writable, 'cork' | 'uncork'>> } }
  let isGathering = false
  return () => {
    const stream = connection?.stream
    if (isGathering || !stream?.cork) return
    isGathering = true
    stream.cork()
    process.nextTick(() => {
      isGathering = false
      stream.uncork?.()
    })
  }
}

const fromDatabase = new WeakSet<object>()

function marked(error: unknown): never {
  if (error instanceof Error) fromDatabase.add(error)
  throw error
}

/** True for an error of a connection of ours to the database. A file that is missing and a socket that is missing have the same code. */
export const isFromDatabase = (error: unknown): error is Error => error instanceof Error && fromDatabase.has(error)

/** More than this program has; texts that are put together anew each time cannot fill the server's memory. */
const mostStatements = 200

function createStatements() {
  let names = new Map<string, string>()
  let generation = 0
  return {
    nameOf(text: string): string | undefined {
      const known = names.get(text)
      if (known !== undefined || names.size >= mostStatements) return known
      const name = `pawl_${generation}_${names.size}`
      names.set(text, name)
      return name
    },
    failed(error: Error): void {
      // A newer program has changed a table under our plans. Whoever tries again finds new ones.
      if (!error.message.includes('cached plan must not change result type')) return
      generation++
      names = new Map()
    },
  }
}
