import { Socket } from 'node:net'
import { Client } from 'pg'
import { messageOf, unavailable } from '../../domain/error.ts'
import { type Layout, port } from './layout.ts'
import { isCode } from './lock.ts'

/** What a client needs; `ssl` is spelled out because the driver would otherwise ask the environment. */
export interface Connection {
  /** The socket's directory. */
  readonly host: string
  readonly port: number
  readonly database: 'pawl'
  readonly user: 'pawl'
  readonly ssl: false
}

export const connectionTo = (layout: Layout): Connection => ({
  host: layout.socketDir,
  port,
  database: 'pawl',
  user: 'pawl',
  ssl: false,
})

/** The connection that shows others we are here. It does not keep the process alive until `ref`. */
export interface Holder {
  readonly client: Client
  /** Resolves when the connection ended without `close`. */
  readonly lost: Promise<void>
  isLost(): boolean
  ref(): void
  close(): Promise<void>
}

const holderName = 'pawl holder'

/** `absent`: nobody listens. `busy`: a server is there and starting, stopping or recovering. `no_database`: its first start is unfinished. */
export type NoConnection = 'absent' | 'busy' | 'no_database'

export async function tryConnect(layout: Layout): Promise<Holder | NoConnection> {
  try {
    return await connect(layout)
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ECONNREFUSED')) return 'absent'
    // Starting up; going down; crashed; cut between accepting and answering.
    if (isCode(error, '57P03', '57P01', '57P02', 'ECONNRESET', 'EPIPE')) return 'busy'
    // The driver's words for a connection closed without an answer, and for none in time, which come without a code.
    if (error instanceof Error && /^(Connection terminated|timeout expired)/.test(error.message)) return 'busy'
    if (isCode(error, '3D000')) return 'no_database'
    throw unavailable(`The embedded database refuses its own client: ${messageOf(error)}. Its log is "${layout.logFile}".`, error)
  }
}

async function connect(layout: Layout): Promise<Holder> {
  const socket = new Socket()
  const client = new Client({
    ...connectionTo(layout),
    application_name: holderName,
    stream: () => socket,
    connectionTimeoutMillis: 10_000,
  })
  let state: 'open' | 'closing' | 'lost' = 'open'
  const lost = new Promise<void>((resolve) => {
    const ended = () => {
      if (state !== 'open') return
      state = 'lost'
      resolve()
    }
    client.on('error', ended)
    client.on('end', ended)
  })
  await client.connect()
  socket.unref()
  return {
    client,
    lost,
    isLost: () => state === 'lost',
    ref: () => void socket.ref(),
    async close() {
      if (state !== 'open') return
      state = 'closing'
      socket.ref()
      await client.end()
    },
  }
}

/** Client connections besides this one; holders stand for processes that are here to stay. */
export async function countOthers(client: Client): Promise<{ holders: number; others: number }> {
  const { rows } = await client.query<{ holders: number; others: number }>(
    `select count(*) filter (where application_name = $1)::int as holders,
            count(*) filter (where application_name <> $1)::int as others
       from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    [holderName],
  )
  return rows[0] ?? { holders: 0, others: 0 }
}

/** Finishes a first start. Each statement may be repeated after a crash between them. */
export async function createDatabase(layout: Layout): Promise<void> {
  const client = new Client({ ...connectionTo(layout), database: 'postgres', application_name: holderName })
  await client.connect()
  try {
    // A failed statement is told to who sent it; in the server's log it would only grow the file and show what users wrote.
    await client.query(`alter role pawl set log_min_messages = 'log'`)
    await client.query('create database pawl')
  } finally {
    await client.end()
  }
}
