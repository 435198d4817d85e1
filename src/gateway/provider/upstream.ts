import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Clock } from '../../clock.ts'
import type { Gone } from '../client/gone.ts'
import { endWith } from '../one-write.ts'
import type { GatewayLimits } from '../options.ts'
import type { RefusalKind } from '../wires/model-event.ts'

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
  const kept = { keepAlive: true, scheduling: 'lifo', timeout: keptMs } as const
  const secure = { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) }
  const agents = { http: new HttpAgent(kept), https: new HttpsAgent({ ...kept, ...secure }) }
  const places = new Map<string, Place>()

  function placeOf(baseUrl: string): Place {
    let place = places.get(baseUrl)
    if (!place) {
      place = placed(baseUrl)
      places.set(baseUrl, place)
    }
    return place
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
    const options = {
      // A kept connection may have ended unseen; a second try gets a new one.
      agent: isAgain ? false : place.isSecure ? agents.https : agents.http,
      hostname: place.hostname,
      port: place.port,
      method: asked.method,
      path: place.pathTo(asked.path),
      headers: ['host', place.host, ...(body ? ['content-length', String(body.length)] : []), ...asked.headers],
    }
    const request: ClientRequest = place.isSecure ? httpsRequest({ ...options, ...secure }) : httpRequest(options)

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
    request.once('socket', (socket) => {
      if (!socket.connecting) return waitForAnswer()
      cancelTimer = clock.after(limits.connectMs, () => late('took no connection', limits.connectMs))
      socket.once(place.isSecure ? 'secureConnect' : 'connect', waitForAnswer)
    })
    request.once('response', (response) => {
      kept = undefined
      cancelTimer()
      signal.removeEventListener('abort', abort)
      answer.resolve(response)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      cancelTimer()
      signal.removeEventListener('abort', abort)
      const isStale = request.reusedSocket && ended.has(error.code ?? '') && clock.monotonic() - sentAt < staleMs
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
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/** How long a connection is kept that nobody uses. */
const keptMs = 60_000

/** So soon is known that a kept connection had ended. One that breaks later may have brought a request that is being served, and would be paid twice. */
const staleMs = 500

const ended = new Set(['ECONNRESET', 'EPIPE'])

const seconds = (ms: number) => `${ms / 1000} seconds`

function reason(error: NodeJS.ErrnoException, wasSent: boolean): string {
  const code = error.code ?? 'no reason given'
  return wasSent ? `broke the connection before it answered (${code})` : `could not be reached (${code})`
}

interface Place {
  readonly isSecure: boolean
  readonly hostname: string
  readonly port: string | undefined
  readonly host: string
  readonly origin: string
  pathTo(path: string): string
}

function placed(baseUrl: string): Place {
  const url = new URL(baseUrl)
  const base = url.pathname.replace(/\/$/, '')
  // Base addresses are given with the version or without it, and so are the paths of clients.
  const version = /\/v\d+\w*$/.exec(base)?.[0]
  return {
    isSecure: url.protocol === 'https:',
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || undefined,
    host: url.host,
    origin: url.origin,
    pathTo: (path) => base + (version !== undefined && path.startsWith(`${version}/`) ? path.slice(version.length) : path),
  }
}
