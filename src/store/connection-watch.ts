import { Socket } from 'node:net'
import pg from 'pg'
import type { Log } from '../base/log.ts'

/**
 * Makes connections that do not wait for ever. A connection whose other side is gone without a word looks like a slow statement; the server, asked on a connection of
 * its own, knows which it is. One that it does not work for is broken, so that whoever waits hears of it and the pool makes another. While the server answers nobody,
 * nothing is broken: everything goes on when it comes back.
 */
export interface ConnectionWatch {
  /** Connections that are watched; for the pool, and for those of one purpose. */
  readonly Client: new (
    config?: pg.ClientConfig,
  ) => pg.Client
  /** Breaks whatever is still open, also what would wait for the other side to say goodbye. */
  close(): void
}

export interface Patience {
  /** So long a statement may go unanswered before the server is asked about it. */
  readonly suspectMs: number
  /** So long the server must be seen to do nothing for it. */
  readonly confirmMs: number
  /** A statement that the server itself should have ended by now. */
  readonly mostMs: number
  /** A connection that only listens says nothing by itself: so often it is seen whether it still brings answers. */
  readonly pingMs: number
}

/** The server ends a statement of the pool after this long, and says so. */
export const statementTimeoutMs = 60_000
export const usualPatience: Patience = { suspectMs: 5_000, confirmMs: 1_500, mostMs: statementTimeoutMs + 15_000, pingMs: 10_000 }

interface Watched {
  readonly client: pg.Client
  readonly socket: Socket
  /** Since when not all that was asked on it is answered. */
  busySince?: number | undefined
  /** What the server said when it did nothing for it. */
  idle?: { readonly mark: string; readonly busySince: number; readonly at: number } | undefined
}

interface Backend {
  readonly pid: number
  readonly state: string | null
  readonly changed: string | null
}

export function watchConnections(options: { connection: pg.ClientConfig; log: Log; patience: Patience }): ConnectionWatch {
  const { connection, log, patience } = options
  const { suspectMs, confirmMs, mostMs } = patience
  const everyMs = Math.min(1_000, confirmMs)
  const all = new Set<Watched>()
  let asking: { client: pg.Client; socket: Socket } | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const begin = (one: Watched) => {
    one.busySince ??= performance.now()
    // It keeps no process alive: whoever waits for the answer does.
    if (!isClosed) timer ??= setTimeout(() => void look(), everyMs).unref()
  }

  const look = async () => {
    const late = [...all].filter((one) => one.busySince !== undefined && performance.now() - one.busySince > suspectMs)
    const backends = late.length === 0 ? leave() : await ask(late.map(pidOf))
    if (backends) for (const one of late) judge(one, backends.get(pidOf(one)))
    timer = undefined
    if (!isClosed && [...all].some((one) => one.busySince !== undefined)) timer = setTimeout(() => void look(), everyMs).unref()
  }

  const judge = (one: Watched, backend: Backend | undefined) => {
    const { busySince, idle } = one
    if (busySince === undefined) return
    const now = performance.now()
    const isWorking =
      backend !== undefined && (backend.state === 'active' || backend.state === null || backend.state === 'disabled')
    const mark = `${backend?.state} ${backend?.changed}`
    if (isWorking && now - busySince <= mostMs) one.idle = undefined
    else if (!isWorking && (idle?.mark !== mark || idle.busySince !== busySince)) one.idle = { mark, busySince, at: now }
    else if (isWorking || now - idle!.at >= confirmMs) {
      log.warn('a database connection that brings no answers is replaced', {
        waitedMs: Math.round(now - busySince),
        reason: 'half_open',
      })
      one.socket.destroy(new Error('Connection terminated: no answer came on it, though the server answers others'))
    }
  }

  /** Undefined if the server answers nobody: then nothing is known of any connection. */
  const ask = async (pids: readonly number[]): Promise<ReadonlyMap<number, Backend> | undefined> => {
    const within = setTimeout(() => asking?.socket.destroy(), suspectMs)
    try {
      asking ??= await open()
      const { rows } = await asking.client.query<Backend>(
        'select pid, state, state_change::text as changed from pg_stat_activity where pid = any($1::int[])',
        [pids],
      )
      return new Map(rows.map((row) => [row.pid, row]))
    } catch (error) {
      log.debug('the database was not asked about its connections', { error: String(error) })
      leave()
      return undefined
    } finally {
      clearTimeout(within)
    }
  }
  const open = async () => {
    const socket = new Socket()
    const client = new pg.Client({
      ...connection,
      stream: () => socket,
      connectionTimeoutMillis: suspectMs,
      statement_timeout: suspectMs,
    })
    // What breaks is told to the statement that waits for it.
    client.on('error', () => undefined)
    asking = { client, socket }
    await client.connect()
    return asking
  }
  const leave = () => {
    asking?.socket.destroy()
    asking = undefined
    return undefined
  }

  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      const socket = new Socket()
      super({ ...config, stream: () => socket })
      const one: Watched = { client: this, socket }
      all.add(one)
      this.query = ((...args: unknown[]) => {
        begin(one)
        return (super.query as (...args: unknown[]) => unknown).apply(this, args)
      }) as typeof this.query
      this.on('drain', () => {
        one.busySince = one.idle = undefined
      })
      this.on('end', () => all.delete(one))
    }
  }

  return {
    Client,
    close() {
      isClosed = true
      clearTimeout(timer)
      leave()
      for (const { socket } of all) socket.destroy()
    },
  }
}

/** Not in the types of pg. */
const pidOf = ({ client }: Watched) => (client as unknown as { readonly processID: number | null }).processID ?? 0
