import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Clock } from '../../clock.ts'
import type { Gone } from '../client/gone.ts'
import { endWith } from '../one-write.ts'
import type { GatewayLimits } from '../options.ts'
import type { RefusalKind } from '../wires/model-event.ts'
import { Connections, type Endpoint } from './connections.ts'

/** The connections to providers. They are kept open; redirects are not followed, certificates are verified, and no proxy of the environment is used. */
export interface Upstream {
  /** Resolves with the head of the answer. Rejects with `UpstreamFailure`. */
  send(request: UpstreamRequest): Promise<IncomingMessage>
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

  function ask(asked: UpstreamRequest, isAgain: boolean): Promise<IncomingMessage> {
    const place = placeOf(asked.baseUrl)
    const { body, signal } = asked
    // Let go when the answer begins: its connection would keep the body with whatever listens to it.
    let kept = isAgain ? undefined : asked
    const answer = Promise.withResolvers<IncomingMessage>()
    let wasSent = false
    let sentAt = 0
    let cancelTimer = () => {}
    // A kept connection may have ended unseen; a second try gets a new one.
    const reused = isAgain ? undefined : place.connections.take()
    const socket = reused ?? place.connections.open()
    const request = httpRequest({
      createConnection: () => socket,
      hostname: place.hostname,
      port: place.port,
      method: asked.method,
      path: place.pathTo(asked.path),
      headers: ['host', place.host, ...(body ? ['content-length', String(body.length)] : []), ...asked.headers],
    })
    request.shouldKeepAlive = true

    const stop = (failure: UpstreamFailure) => {
      kept = undefined
      cancelTimer()
      signal.removeEventListener('abort', abort)
      answer.reject(failure)
      request.destroy()
    }
    const abort = () => stop(new UpstreamFailure('unavailable', 'Whoever asked went away.', wasSent))
    const late = (what: string, ms: number) =>
      stop(new UpstreamFailure('timed_out', `The provider at ${place.origin} ${what} within ${seconds(ms)}.`, wasSent))
    const waitForAnswer = () => {
      wasSent = true
      sentAt = clock.monotonic()
      cancelTimer()
      cancelTimer = clock.after(limits.firstByteMs, () => late('did not begin to answer', limits.firstByteMs))
    }
    if (reused) waitForAnswer()
    else {
      cancelTimer = clock.after(limits.connectMs, () => late('took no connection', limits.connectMs))
      socket.once(place.isSecure ? 'secureConnect' : 'connect', waitForAnswer)
    }
    request.once('response', (response) => {
      kept = undefined
      place.connections.hear(socket, response.rawHeaders)
      cancelTimer()
      signal.removeEventListener('abort', abort)
      answer.resolve(response)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      cancelTimer()
      signal.removeEventListener('abort', abort)
      const isStale = reused && ended.has(error.code ?? '') && clock.monotonic() - sentAt < staleMs
      if (kept && isStale && !signal.aborted) answer.resolve(ask(kept, true))
      else
        answer.reject(new UpstreamFailure('unavailable', `The provider at ${place.origin} ${reason(error, wasSent)}.`, wasSent))
    })
    if (signal.aborted) abort()
    else {
      signal.addEventListener('abort', abort)
      endWith(request, body)
    }
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

const ended = new Set(['ECONNRESET', 'EPIPE'])

const seconds = (ms: number) => `${ms / 1000} seconds`

function reason(error: NodeJS.ErrnoException, wasSent: boolean): string {
  const code = error.code ?? 'no reason given'
  return wasSent ? `broke the connection before it answered (${code})` : `could not be reached (${code})`
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
