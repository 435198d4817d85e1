import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Log } from '../base/log.ts'
import { messageOf, PawlError } from '../domain/error.ts'
import { type ConnectionWatch, type Patience, statementTimeoutMs, usualPatience, watchConnections } from './connection-watch.ts'
import { isFromDatabase, preparing } from './prepared.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** bigint and numeric come as text from the driver; ours all fit a double. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

export interface Database {
  readonly db: Db
  readonly pool: pg.Pool
  /** How a connection of this process is made, for a thread that has one of its own. */
  readonly connection: pg.ClientConfig
  /** Calls back for each NOTIFY on the channel and, with an empty text, whenever notifications may have been missed. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<void>
  /** A connection for one piece of work that takes long or speaks COPY. Whoever asks for it ends it. */
  alone(): Promise<pg.Client>
  /** Statements that every connection runs before its first use; replaces those set before. */
  setSessionStatements(statements: string[]): Promise<void>
  close(): Promise<void>
}

const maxConnections = 6
/** Longer than anything we do between two statements of one transaction, also on a machine that has far too much to do. */
const longestPauseMs = 30_000
const connectWithinMs = 10_000
/** Whoever stops says goodbye to the server, and does not wait for an answer for ever. */
const closeWithinMs = 3_000
/** For a machine that vanished without a word: the server lets go of what its connections hold. Unix sockets know it at once and ignore this. */
const goneAfter = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25000',
}

/**
 * One pool for everything of this process, pg-boss included, and one connection that listens. Both connect again by themselves when the server was away; it
 * must come back at the same address.
 */
export async function openDatabase(options: {
  connection: pg.ClientConfig
  applicationName: string
  log: Log
  patience?: Patience
}): Promise<Database> {
  const { log, patience = usualPatience } = options
  const config = {
    ...options.connection,
    application_name: options.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectWithinMs,
  }
  const watch = watchConnections({ connection: config, log, patience })
  let statements: string[] = []
  const pool = new pg.Pool({
    ...config,
    Client: watch.Client,
    max: maxConnections,
    // A statement need not wait for the answer to the one before it.
    pipeline: true,
    idleTimeoutMillis: 60_000,
    async onConnect(client) {
      // A kept plan may be from a time when its table was small. What we ask goes by an index, so no plan may read a whole table instead.
      // And a process that is stopped in the middle of a transaction must not hold its locks for ever: all others wait for the one of admission.
      await client.query(
        `set enable_seqscan = off; set idle_in_transaction_session_timeout = ${longestPauseMs}; set statement_timeout = ${statementTimeoutMs}`,
      )
      await client.query(
        `select set_config(name, $1::json->>name, false) from pg_settings where name in (select json_object_keys($1::json))`,
        [JSON.stringify(goneAfter)],
      )
      for (const statement of statements) await client.query(statement)
    },
  })
  // One that breaks between two statements of a transaction has nobody else to tell, and an error that nobody hears ends the process; the next statement reports it.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.debug('a database connection broke', { error: error.message })),
  )
  // An idle connection that breaks is replaced at the next use, which reports its own error.
  pool.on('error', (error) => log.warn('an idle database connection broke', { error: error.message }))
  try {
    const client = await pool.connect()
    client.release()
  } catch (error) {
    watch.close()
    await pool.end()
    throw new PawlError(
      'unavailable',
      `Cannot reach the database: ${messageOf(error)}. Check --database-url (or PAWL_DATABASE_URL).`,
      { cause: error },
    )
  }

  const listener = createListener(config, { watch, patience, log })
  return {
    db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: preparing(pool) }) }),
    pool,
    connection: config,
    listen: listener.listen,
    async alone() {
      const client = new watch.Client(config)
      // What breaks is told to the statement that waits for it.
      client.on('error', (error) => log.debug('a database connection broke', { error: error.message }))
      await client.connect()
      return client
    },
    async setSessionStatements(next) {
      statements = next
    },
    async close() {
      const closed = Promise.all([listener.close(), pool.ended ? undefined : pool.end()])
      const late = setTimeout(watch.close, closeWithinMs)
      try {
        await closed
      } finally {
        clearTimeout(late)
        watch.close()
      }
    },
  }
}

function createListener(
  config: pg.ClientConfig,
  { watch, patience, log }: { watch: ConnectionWatch; patience: Patience; log: Log },
) {
  const channels = new Map<string, (payload: string) => void>()
  let client: pg.Client | undefined
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const connect = async () => {
    const next = new watch.Client(config)
    next.on('error', (error) => log.debug('the listening connection broke', { error: error.message }))
    next.on('end', () => {
      if (client === next) client = undefined
      if (!closed && channels.size > 0) again()
    })
    next.on('notification', (message) => channels.get(message.channel)?.(message.payload ?? ''))
    await next.connect()
    for (const channel of channels.keys()) await next.query(`listen ${pg.escapeIdentifier(channel)}`)
    client = next
    for (const onNotify of channels.values()) onNotify('')
  }
  // What does not come is found by the watch, which ends the connection.
  const ping = setInterval(() => void client?.query('select 1').catch(() => undefined), patience.pingMs).unref()
  const again = () => {
    retry ??= setTimeout(() => {
      retry = undefined
      if (!closed && !client) connect().catch(again)
    }, 500)
  }

  return {
    async listen(channel: string, onNotify: (payload: string) => void) {
      channels.set(channel, onNotify)
      if (client) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      else await connect()
    },
    async close() {
      closed = true
      clearTimeout(retry)
      clearInterval(ping)
      await client?.end()
    },
  }
}

/** True for errors that say nothing about the statement: the server went away, is starting, or refused the connection. */
export function isConnectionLoss(error: unknown): boolean {
  if (!isFromDatabase(error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && /^(08|57P0|25P03|ECONN|ENOENT|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_)/.test(code)) return true
  return /Connection terminated|connection timeout|timeout exceeded when trying to connect|Client (has encountered|was closed)/i.test(
    error.message,
  )
}

/** True for errors after which the same statement may succeed later: no connection, no room, or another transaction in the way. */
export function isPassing(error: unknown): boolean {
  if (isConnectionLoss(error)) return true
  return isFromDatabase(error) && /^(53|57|40001$|40P01$)/.test(String((error as { code?: unknown }).code))
}

/** True when other transactions were in the way of this one: it is undone, and may be begun again at once. */
const isInTheWay = (error: unknown) =>
  isFromDatabase(error) && ['40001', '40P01'].includes(String((error as { code?: unknown }).code))

const mostTries = 5
const waitMs = 20

/** One transaction, begun again if the server has undone it because others were in its way. `work` may do nothing but what is undone with it. */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (tries === mostTries || !isInTheWay(error)) throw error
      // Two that met would meet again if they came back in the same moment.
      await new Promise((again) => setTimeout(again, Math.random() * waitMs * tries))
    }
  }
}

/** True when the server has no room left: new work is refused, reading and finishing go on. */
export const isDiskFull = (error: unknown) => (error as { code?: unknown } | null)?.code === '53100'

/** True when the server's storage lies to it: going on would be guessing, so the process must stop. */
export const isStorageBroken = (error: unknown) =>
  ['58030', 'XX001', 'XX002'].includes(String((error as { code?: unknown } | null)?.code))
