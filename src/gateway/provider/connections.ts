import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { headerIn, type RawHeaders } from '../base/headers.ts'
import type { Exchange } from './exchange.ts'

export interface Endpoint {
  readonly isSecure: boolean
  readonly hostname: string
  readonly port: number
}

/** A connection that carries one request at a time. */
export interface Connection {
  readonly socket: Socket
  /** Hears what it brings. What comes while there is none, nobody asked for. */
  exchange: Exchange | undefined
}

/** The connections to one server, each for one request at a time and then kept for the next one. Node's own agent does far more for each request than that. */
export class Connections {
  readonly #endpoint: Endpoint
  readonly #ca: string | undefined
  #kept: Connection[] = []
  #session: Buffer | undefined
  /** What the server has last said of it. */
  #told: string | undefined
  #keptMs = keptMs
  #isClosed = false

  constructor(endpoint: Endpoint, ca: string | undefined) {
    this.#endpoint = endpoint
    this.#ca = ca
  }

  /** The one that was used last of those that are kept. */
  take(): Connection | undefined {
    let connection = this.#kept.pop()
    while (connection && !isFree(connection.socket)) connection = this.#kept.pop()
    connection?.socket.ref()
    return connection
  }

  /** A new one, which is not connected yet. */
  open(): Connection {
    const { isSecure, hostname, port } = this.#endpoint
    const options = { host: hostname, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 }
    const socket = isSecure ? this.#openSecurely(options) : connect(options)
    const connection: Connection = { socket, exchange: undefined }
    socket.setTimeout(keptMs)
    // Whoever uses it at that time has clocks of its own.
    socket.on('timeout', () => {
      if (!connection.exchange) socket.destroy()
    })
    socket.on('data', (chunk) => {
      if (connection.exchange) connection.exchange.heard(chunk)
      else socket.destroy()
    })
    socket.on('end', () => {
      connection.exchange?.broken(undefined)
      socket.destroy()
    })
    socket.on('error', (error) => connection.exchange?.broken(error))
    socket.on('close', () => {
      connection.exchange?.broken(undefined)
      const at = this.#kept.indexOf(connection)
      if (at !== -1) this.#kept.splice(at, 1)
    })
    return connection
  }

  #openSecurely(options: { readonly host: string; readonly port: number }): Socket {
    const socket = connectSecurely({
      ...options,
      servername: isIP(options.host) ? '' : options.host,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
      ...(this.#session ? { session: this.#session } : {}),
    })
    socket.on('session', (session) => {
      this.#session = session
    })
    socket.on('close', (isFailed) => {
      if (isFailed) this.#session = undefined
    })
    return socket
  }

  /** For the next request. The server, whose last answer had these headers, may close it after so many seconds. */
  keep(connection: Connection, headers: RawHeaders): void {
    const { socket } = connection
    connection.exchange = undefined
    const told = headerIn(headers, 'keep-alive')
    if (told !== this.#told) {
      this.#told = told
      this.#keptMs = Math.min(keptMs, toldMs(told) ?? keptMs)
    }
    if (this.#isClosed || this.#kept.length >= maxKept || this.#keptMs === leastMs || !isFree(socket))
      return void socket.destroy()
    if (socket.timeout !== this.#keptMs) socket.setTimeout(this.#keptMs)
    socket.unref()
    this.#kept.push(connection)
  }

  close(): void {
    this.#isClosed = true
    for (const { socket } of this.#kept.splice(0)) socket.destroy()
  }
}

/** One on which a request is still being sent would bring the rest of that first. */
const isFree = ({ destroyed, writable, writableLength }: Socket) => !destroyed && writable && writableLength === 0

/** How long a connection is kept that nobody uses. */
const keptMs = 60_000
const maxKept = 256
/** So much sooner than the server would. */
const aheadMs = 1_000
/** One that the server would close that soon is not kept. */
const leastMs = 1

function toldMs(told = ''): number | undefined {
  const seconds = /\btimeout=(\d+)/i.exec(told)?.[1]
  return seconds === undefined ? undefined : Math.max(leastMs, Number(seconds) * 1_000 - aheadMs)
}
