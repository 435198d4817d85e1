import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { headerIn, type RawHeaders } from '../headers.ts'

export interface Endpoint {
  readonly isSecure: boolean
  readonly hostname: string
  readonly port: number
}

/** The connections to one server, each for one request at a time and then kept for the next one. Node's own agent does far more for each request than that. */
export class Connections {
  readonly #endpoint: Endpoint
  readonly #ca: string | undefined
  #kept: Socket[] = []
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
  take(): Socket | undefined {
    let socket = this.#kept.pop()
    while (socket && (socket.destroyed || !socket.writable)) socket = this.#kept.pop()
    return socket?.ref()
  }

  /** A new one, which is not connected yet. */
  open(): Socket {
    const { isSecure, hostname, port } = this.#endpoint
    const options = { host: hostname, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 }
    const socket = isSecure ? this.#openSecurely(options) : connect(options)
    socket.setTimeout(keptMs)
    // Whoever uses it at that time has clocks of its own.
    socket.on('timeout', () => {
      if (this.#kept.includes(socket)) socket.destroy()
    })
    socket.on('free', () => this.#keep(socket))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const at = this.#kept.indexOf(socket)
      if (at !== -1) this.#kept.splice(at, 1)
    })
    return socket
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

  /** Called before the request's connection is free again: the server closes it after so many seconds. */
  hear(socket: Socket, headers: RawHeaders): void {
    const told = headerIn(headers, 'keep-alive')
    if (told !== this.#told) {
      this.#told = told
      this.#keptMs = Math.min(keptMs, toldMs(told) ?? keptMs)
    }
    if (socket.timeout !== this.#keptMs) socket.setTimeout(this.#keptMs)
  }

  #keep(socket: Socket): void {
    if (socket.destroyed || !socket.writable) return
    if (this.#isClosed || this.#kept.length >= maxKept || socket.timeout === leastMs) socket.destroy()
    else this.#kept.push(socket.unref())
  }

  close(): void {
    this.#isClosed = true
    for (const socket of this.#kept.splice(0)) socket.destroy()
  }
}

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
