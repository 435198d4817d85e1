import type { QueryExecutor, QueryExecutorProvider } from 'kysely'
import type { Db, Tx } from './database.ts'

/** Whatever a statement can be sent to: the database, a transaction, or what `atOnce` gives. */
export type Statements = QueryExecutorProvider

/**
 * Sends statements one behind the other and waits once, where Kysely would send each only when the one before it is answered: on the way to the server and back more
 * time is lost than in it. The server carries them out in the order in which they were sent, each with what the ones before it have done, and each sees what others have
 * committed until then: so one that follows a lock sees what the lock was waited for. `send` asks nothing of `to` itself, which is taken until all are answered.
 */
export function atOnce<const T extends readonly Promise<unknown>[]>(
  to: Db | Tx,
  send: (one: Statements) => T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const executor = to.getExecutor()
  return executor.provideConnection(async (connection) => {
    // No more than a statement asks of an executor: the way through Kysely's own costs more than the statement's own text.
    const direct: Pick<QueryExecutor, 'transformQuery' | 'compileQuery' | 'executeQuery'> = {
      transformQuery: (node) => node,
      compileQuery: (node, id) => executor.compileQuery(node, id),
      executeQuery: (query) => connection.executeQuery(query),
    }
    const sent = send({ getExecutor: () => direct as QueryExecutor })
    // A statement that is sent after the rollback would stand on its own: whatever fails, none is under way when this is over.
    await Promise.allSettled(sent)
    return Promise.all(sent)
  })
}
