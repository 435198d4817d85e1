import { createRequire } from 'node:module'
import { CompiledQuery } from 'kysely'
import { PgBoss, type Clock as QueueClock } from 'pg-boss'
import type { Log } from '../../base/log.ts'
import type { Statements } from '../../store/at-once.ts'
import type { Database } from '../../store/database.ts'
import { commitMark, keepMark } from '../../store/transactions.ts'

/**
 * Hands runs to pg-boss and takes them from it. A job is only the token that a run may start: it is enqueued with the admission and completed with the lease,
 * so from then on our own rows are the truth and nothing pg-boss does by time can start a run again.
 */
export interface Dispatch {
  /** Enqueues one job per run, within the admission's transaction. One whose run is not admitted after all opens nothing. */
  enqueue(tx: Statements, runs: readonly string[]): Promise<void>
  /** Takes up to `count` tokens within the lease's transaction, which must also spend them. */
  take(tx: Statements, count: number): Promise<Taken>
  /** Drops the queue that a process kept for itself alone, with whatever is left in it. Nothing happens if it had none. */
  forget(worker: string): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface Taken {
  readonly runs: readonly string[]
  /** Spends the tokens, for good, as the last statement of the transaction. */
  spendAndCommit(tx: Statements): Promise<void>
}

export type { QueueClock }

/** The schema version of pg-boss that this program brings. */
export const queueSchemaVersion: number = createRequire(import.meta.url)('pg-boss/package.json').pgboss.schema

/** pg-boss orders and expires by the server's wall clock. A token that is due since 2000 and kept until 2063 is due whatever that clock does. */
const dueSince = '2000-01-01T00:00:00Z'
const keptForSeconds = 2_000_000_000

export function createDispatch(options: {
  database: Database
  worker: string
  shared: boolean
  log: Log
  clock?: QueueClock | undefined
}): Dispatch {
  const { database, log } = options
  const boss = new PgBoss({
    db: {
      executeSql: (text, values) => database.pool.query(text, values as unknown[]),
      setSessionStatements: database.setSessionStatements,
    },
    schema: 'pgboss',
    schedule: false,
    ...(options.clock ? { clock: options.clock } : {}),
  })
  boss.on('error', (error) => log.warn('the job queue reports', { error: error.message }))
  // Runs that anybody may take, or runs kept for this process alone.
  const ownQueue = (worker: string) => `run-${worker}`
  const queue = options.shared ? 'run' : ownQueue(options.worker)

  return {
    async enqueue(tx, runs) {
      const jobs = runs.map((run) => ({ data: { run }, startAfter: dueSince }))
      await boss.insert(queue, jobs, { db: within(tx) })
    },
    async take(tx, count) {
      const jobs = await boss.fetch<{ run: string }>(queue, { batchSize: count, db: within(tx, keepMark) })
      const ids = jobs.map((job) => job.id)
      return {
        runs: jobs.map((job) => job.data.run),
        spendAndCommit: async (to) => void (await boss.complete(queue, ids, null, { db: within(to, commitMark) })),
      }
    },
    async forget(worker) {
      const name = ownQueue(worker)
      await boss.deleteQueue(name).catch(async (error: unknown) => {
        // Another process that buries the same worker may have been first.
        if (await boss.getQueue(name)) throw error
      })
    },
    async start() {
      await boss.start()
      await boss.createQueue(queue, {
        policy: 'standard',
        retryLimit: 0,
        expireInSeconds: 86_400,
        retentionSeconds: keptForSeconds,
        deleteAfterSeconds: 3_600,
      })
    },
    async stop() {
      if (!options.shared)
        await boss
          .deleteQueue(queue)
          .catch((error: Error) => log.debug('the queue of this process stays', { error: error.message }))
      await boss.stop({ graceful: false, close: false })
    },
  }
}

/** What pg-boss asks goes where our own statements go. */
const within = (tx: Statements, mark = '') => ({
  async executeSql(text: string, values: unknown[] = []) {
    const { rows } = await tx.getExecutor().executeQuery(CompiledQuery.raw(`${text}${mark}`, values))
    return { rows }
  },
})
