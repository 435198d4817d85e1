import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { GatewayLimits } from '../base/limits.ts'
import { writeWith } from '../base/one-write.ts'
import type { Gone } from '../client/gone.ts'
import type { RefusalKind } from '../wires/model-event.ts'
import { MalformedAnswer } from './answer-parser.ts'
import { Connections, type Endpoint } from './connections.ts'
import { Exchange, type ProviderAnswer } from './exchange.ts'

/** The connections to providers. They are kept open; redirects are not followed, certificates are verified, and no proxy of the environment is used. */
export interface Upstream {
  /** Resolves with the head of the answer. Rejects with `UpstreamFailure`. */
  send(request: UpstreamRequest): Promise<ProviderAnswer>
  /** Where a path of a base URL is asked for. */
  urlOf(baseUrl: string, path: string): string
  close(): void
}

export interface UpstreamRequest {
  readonly method: string
  readonly baseUrl: string
  /** Below the base URL, with its query. */
  readonly path: string
  /** Names and values in turn; host and length are added. */
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  readonly signal: Gone
}

export class UpstreamFailure extends Error {
  readonly kind: RefusalKind
  /** The provider may have got the request, so it may have served it. */
  readonly wasSent: boolean

  constructor(kind: RefusalKind, message: string, wasSent: boolean) {
    super(message)
    this.kind = kind
    this.wasSent = wasSent
  }
}

export interface UpstreamOptions {
  readonly clock: Clock
  readonly limits: Pick<GatewayLimits, 'connectMs' | 'firstByteMs'>
  /** Certificates to trust instead of the system's. */
  readonly ca?: string | undefined
}

export function createUpstream({ clock, limits, ca }: UpstreamOptions): Upstream {
  const places = new Map<string, Place>()
  const pools = new Map<string, Connections>()

  function placeOf(baseUrl: string): Place {
    let place = places.get(baseUrl)
    if (!place) {
      place = placed(baseUrl, poolOf)
      places.set(baseUrl, place)
    }
    return place
  }

  /** Base addresses may share their server. */
  function poolOf(origin: string, endpoint: Endpoint): Connections {
    let pool = pools.get(origin)
    if (!pool) {
      pool = new Connections(endpoint, ca)
      pools.set(origin, pool)
    }
    return pool
  }

  function ask(asked: UpstreamRequest, isAgain: boolean): Promise<ProviderAnswer> {
    const place = placeOf(asked.baseUrl)
    const { body, signal } = asked
    const head = headOf(asked, place)
    if (signal.aborted) return Promise.reject(new UpstreamFailure('unavailable', hasLeft, isAgain))
    // Let go when the answer begins: its connection would keep the body with whatever listens to it.
    let kept = isAgain ? undefined : asked
    const answer = Promise.withResolvers<ProviderAnswer>()
    // It may have arrived before its connection ended.
    let wasSent = isAgain
    let sentAt = 0
    let cancelTimer = () => {}
    // A kept connection may have ended unseen; a second try gets a new one.
    const reused = isAgain ? undefined : place.connections.take()
    const connection = reused ?? place.connections.open()
    const { socket } = connection

    const settle = () => {
      kept = undefined
      cancelTimer()
      signal.removeEventListener('abort', abort)
    }
    const stop = (failure: UpstreamFailure) => {
      settle()
      answer.reject(failure)
      exchange.destroy()
    }
    const abort = () => stop(new UpstreamFailure('unavailable', hasLeft, wasSent))
    const late = (what: string, ms: number) =>
      stop(new UpstreamFailure('timed_out', `The provider at ${place.origin} ${what} within ${seconds(ms)}.`, wasSent))
    const waitForAnswer = () => {
      wasSent = true
      sentAt = clock.monotonic()
      cancelTimer()
      cancelTimer = clock.after(limits.firstByteMs, () => late('did not begin to answer', limits.firstByteMs))
    }
    const exchange = new Exchange(socket, {
      onHead(begun) {
        settle()
        answer.resolve(begun)
      },
      onBroken(error) {
        const again = kept
        settle()
        const isStale = reused && !exchange.hasHeard && isEnd(error) && clock.monotonic() - sentAt < staleMs
        if (again && isStale) answer.resolve(ask(again, true))
        else
          answer.reject(new UpstreamFailure('unavailable', `The provider at ${place.origin} ${reason(error, wasSent)}.`, wasSent))
      },
      onFree: () => place.connections.keep(connection, exchange.headers),
    })
    connection.exchange = exchange
    if (reused) waitForAnswer()
    else {
      cancelTimer = clock.after(limits.connectMs, () => late('took no connection', limits.connectMs))
      socket.once(place.isSecure ? 'secureConnect' : 'connect', waitForAnswer)
    }
    signal.addEventListener('abort', abort)
    writeWith(socket, head, body)
    return answer.promise
  }

  return {
    send: (asked) => ask(asked, false),
    urlOf(baseUrl, path) {
      const { origin, pathTo } = placeOf(baseUrl)
      return origin + pathTo(path)
    },
    close() {
      for (const pool of pools.values()) pool.close()
    },
  }
}

/** So soon is known that a kept connection had ended. One that breaks later may have brought a request that is being served, and would be paid twice. */
const staleMs = 500

const isEnd = (error: NodeJS.ErrnoException | undefined) => !error || error.code === 'ECONNRESET' || error.code === 'EPIPE'

const hasLeft = 'Whoever asked went away.'

const seconds = (ms: number) => `${ms / 1000} seconds`

function reason(error: NodeJS.ErrnoException | undefined, wasSent: boolean): string {
  if (error instanceof MalformedAnswer) return `answered with what HTTP does not allow: ${error.message}`
  const code = error?.code ?? 'it was closed'
  return wasSent ? `broke the connection before it answered (${code})` : `could not be reached (${code})`
}

/** Throws if anything in it would not stay in its line. */
function headOf({ method, path, headers, body }: UpstreamRequest, { host, pathTo }: Place): string {
  const asked = pathTo(path)
  if (/[^\x21-\xff]/.test(asked)) throw new TypeError('a path has signs that paths have not')
  let head = `${method} ${asked} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  if (body) head += `content-length: ${body.length}\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!
    const value = headers[at + 1]!
    validateHeaderName(name)
    validateHeaderValue(name, value)
    head += `${name}: ${value}\r\n`
  }
  return `${head}\r\n`
}

interface Place extends Endpoint {
  readonly connections: Connections
  readonly host: string
  readonly origin: string
  pathTo(path: string): string
}

function placed(baseUrl: string, poolOf: (origin: string, endpoint: Endpoint) => Connections): Place {
  const url = new URL(baseUrl)
  const base = url.pathname.replace(/\/$/, '')
  // Base addresses are given with the version or without it, and so are the paths of clients.
  const version = /\/v\d+\w*$/.exec(base)?.[0]
  const isSecure = url.protocol === 'https:'
  const endpoint = { isSecure, hostname: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || (isSecure ? 443 : 80) }
  return {
    ...endpoint,
    connections: poolOf(url.origin, endpoint),
    host: url.host,
    origin: url.origin,
    pathTo: (path) => base + (version !== undefined && path.startsWith(`${version}/`) ? path.slice(version.length) : path),
  }
}
