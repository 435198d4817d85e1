import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { secured } from './secured.ts'

/** Connects to a host that may be reached; rejects with a `PawlError`. */
export type Opener = (host: string, port: number) => Promise<Socket>

export interface WebFetch {
  /** As the fetch of the platform, but by that way out alone, and following nothing. */
  (url: string | URL, init?: RequestInit): Promise<Response>
  close(): void
}

/** Nothing that is sensible is larger, and a peer may never end. */
const mostBytes = 64 * 1024 * 1024
const connectMs = 15_000

/** Speaks HTTP over connections that somebody else opens, and keeps them for the next request. */
export function createWebFetch(open: Opener): WebFetch {
  const agents = { 'http:': connecting(open, false), 'https:': connecting(open, true) }
  const webFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, { ...init, redirect: 'manual' })
    const target = new URL(request.url)
    if (target.protocol !== 'http:' && target.protocol !== 'https:') throw new TypeError(`${target.protocol} is not spoken here`)
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined
    const headers: Record<string, string> = { 'user-agent': 'Pawl', 'accept-encoding': 'gzip, br', host: target.host }
    request.headers.forEach((value, name) => {
      headers[name] = value
    })
    if (body) headers['content-length'] = String(body.length)
    const options = {
      agent: agents[target.protocol],
      host: target.hostname.replace(/^\[|\]$/g, ''),
      port: Number(target.port || (target.protocol === 'https:' ? 443 : 80)),
      path: `${target.pathname}${target.search}`,
      method: request.method,
      headers,
      setHost: false,
    }
    const answer = await send(() => httpRequest(options), { body, signal: init?.signal ?? undefined, url: target })
    return responseOf(answer)
  }
  return Object.assign(webFetch, {
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  })
}

function connecting(open: Opener, isTls: boolean): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, keepAliveMsecs: 30_000 })
  const connect = async ({ host = '', port = 0 }: { host?: string; port?: number | string }) => {
    const socket = await open(host, Number(port))
    return isTls ? secured(socket, host, AbortSignal.timeout(connectMs)) : socket
  }
  Object.assign(agent, {
    createConnection(options: { host?: string; port?: number }, done: (error: Error | null, socket?: Socket) => void) {
      connect(options).then(
        (socket) => done(null, socket),
        (error: Error) => done(error),
      )
    },
  })
  return agent
}

interface Sent {
  readonly body: Buffer | undefined
  readonly signal: AbortSignal | undefined
  readonly url: URL
}

function send(begin: () => ClientRequest, sent: Sent): Promise<IncomingMessage> {
  const { body, signal, url } = sent
  return new Promise((resolve, reject) => {
    const request = begin()
    const abort = () =>
      request.destroy(signal?.reason instanceof Error ? signal.reason : new DOMException('Aborted', 'AbortError'))
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    request.once('response', (answer) => {
      answer.once('close', () => signal?.removeEventListener('abort', abort))
      resolve(answer)
    })
    request.once('error', (error: NodeJS.ErrnoException) => {
      signal?.removeEventListener('abort', abort)
      // A connection that was kept may have been closed at the other end just before it was used again: nothing was heard there.
      if (request.reusedSocket && error.code === 'ECONNRESET' && !signal?.aborted) return resolve(send(begin, sent))
      const isSaid = error instanceof PawlError || signal?.aborted
      reject(isSaid ? error : unavailable(`${url.host} gave no answer (${messageOf(error)}).`, error))
    })
    request.end(body)
  })
}

const bodiless = [101, 204, 205, 304]

function responseOf(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    if (name === 'content-encoding' || name === 'content-length') continue
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  if (bodiless.includes(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(bounded(answer)) as ReadableStream<Uint8Array>, { status, headers })
}

/** What it unpacks to counts, so that a small answer cannot become a huge one. */
function bounded(answer: IncomingMessage): Readable {
  let bytes = 0
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes > mostBytes) done(unavailable(`The answer is larger than ${mostBytes / 1024 / 1024} MB.`))
      else done(null, chunk)
    },
  })
  const encoding = answer.headers['content-encoding']?.toLowerCase()
  const unpack =
    encoding === 'br' ? createBrotliDecompress() : encoding === 'gzip' || encoding === 'deflate' ? createUnzip() : undefined
  const steps = unpack ? [answer, unpack, limit] : [answer, limit]
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1] as Transform | undefined
    step.on('error', (error) => next?.destroy(error))
    if (next) step.pipe(next)
  }
  limit.once('close', () => answer.destroy())
  return limit
}
