import type { Agent, IncomingMessage } from 'node:http'
import { connect as netConnect, type Socket } from 'node:net'
import { type Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { secured } from './secured.ts'

// An `import` of node:http reads all its exports, one of which loads the whole fetch implementation.
const http = process.getBuiltinModule('node:http')

/** Opens a plain connection to a host, and so decides who may be asked: each user of this module names one. Rejects with a `PawlError`. */
export type Connect = (host: string, port: number, signal: AbortSignal) => Promise<Socket>

export interface HttpRequest {
  /** GET if left out. */
  readonly method?: string | undefined
  /** Sent as they are, in the place of ours with the same names. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** The deadline of it all, the answer's body included. */
  readonly signal: AbortSignal
}

export interface HttpClient {
  /**
   * Resolves with the answer as it begins; its body is read with a bound, by `readBody`, `bounded` or `discard`. No redirect is followed: who follows one asks anew. Rejects
   * with the reason of the signal, or with a `PawlError`.
   */
  send(url: URL, request: HttpRequest): Promise<IncomingMessage>
  /** Ends what is open, also where an answer is still read. */
  close(): void
}

/** Whoever was asked said nothing that could be understood. */
export class NoAnswer extends PawlError {
  constructor(host: string, cause: Error) {
    super('unavailable', `${host} gave no answer (${messageOf(cause)}).`, { cause })
  }
}

const connectMs = 15_000

/** The one client of HTTP that Pawl itself asks others with. `keep` keeps connections for the next request. */
export function createHttpClient(connect: Connect, { keep = false }: { readonly keep?: boolean } = {}): HttpClient {
  const agents = { 'http:': agentOf(connect, keep, false), 'https:': agentOf(connect, keep, true) }
  const send = (url: URL, request: HttpRequest): Promise<IncomingMessage> => {
    const { method = 'GET', headers, body, signal } = request
    const agent = agents[url.protocol as keyof typeof agents]
    if (!agent) return Promise.reject(new TypeError(`${url.protocol} is not spoken here`))
    return new Promise((resolve, reject) => {
      const sent = http.request({
        agent,
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: portOf(url),
        method,
        path: `${url.pathname}${url.search}`,
        headers: {
          host: url.host,
          'user-agent': 'Pawl',
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
        setHost: false,
        // Handed on to the agent, which opens the connection.
        ...({ deadline: signal } satisfies Deadline),
      })
      let answer: IncomingMessage | undefined
      const abort = () => {
        const reason = reasonOf(signal)
        answer?.destroy(reason)
        sent.destroy(reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
      const isOver = () => signal.removeEventListener('abort', abort)
      sent.once('response', (message) => {
        answer = message
        message.once('close', isOver)
        resolve(message)
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        isOver()
        // A connection that was kept may have been closed at the other end just before it was used again: nothing was heard there.
        if (sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) return resolve(send(url, request))
        if (signal.aborted) return reject(reasonOf(signal))
        reject(error instanceof PawlError ? error : new NoAnswer(url.host, error))
      })
      sent.end(body)
    })
  }
  return {
    send,
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new DOMException('Aborted', 'AbortError')

interface Deadline {
  readonly deadline?: AbortSignal
}

function agentOf(connect: Connect, keep: boolean, isTls: boolean): Agent {
  const agent = new http.Agent(keep ? { keepAlive: true, maxSockets: 32, keepAliveMsecs: 30_000 } : { keepAlive: false })
  const open = async ({ host = '', port = 0, deadline }: Deadline & { host?: string; port?: number | string }) => {
    const signal = AbortSignal.any([AbortSignal.timeout(connectMs), ...(deadline ? [deadline] : [])])
    const plain = await connect(host, Number(port), signal)
    return isTls ? secured(plain, host, signal) : plain
  }
  return Object.assign(agent, {
    createConnection(options: Deadline & { host?: string; port?: number }, done: (error: Error | null, socket?: Socket) => void) {
      open(options).then(
        (socket) => done(null, socket),
        (error: Error) => done(error),
      )
    },
  })
}

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** To a host that the user's own settings name for Pawl itself, wherever it leads. Never for an address that an agent, a server or a task names. */
export const connectAsNamed: Connect = (host, port, signal) =>
  new Promise((resolve, reject) => {
    const socket = netConnect({ host, port, noDelay: true })
    const fail = (error?: Error) => reject(unavailable(`${host} cannot be reached.`, signal.aborted ? signal.reason : error))
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    socket.once('close', () => {
      signal.removeEventListener('abort', abort)
      fail()
    })
    socket.on('error', fail)
    socket.once('connect', () => resolve(socket))
  })

/** The body as it was before it was packed. A form that was not asked for is left as it is. */
export function unpacked(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding']?.toLowerCase()
  const unpack =
    encoding === 'br' ? createBrotliDecompress() : encoding === 'gzip' || encoding === 'deflate' ? createUnzip() : undefined
  if (!unpack) return answer
  answer.on('error', (error) => unpack.destroy(error))
  unpack.once('close', () => answer.destroy())
  return answer.pipe(unpack)
}

/** The unpacked body, which breaks off with an error when it is larger. What it unpacks to counts: a small answer cannot become a huge one. */
export function bounded(answer: IncomingMessage, mostBytes: number): Readable {
  let bytes = 0
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes > mostBytes) done(unavailable(`The answer is larger than ${mostBytes / 1024 / 1024} MB.`))
      else done(null, chunk)
    },
  })
  const body = unpacked(answer)
  body.on('error', (error) => limit.destroy(error))
  limit.once('close', () => body.destroy())
  return body.pipe(limit)
}

/** The whole body. Rejects when it is larger, or breaks off. */
export async function readBody(answer: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bounded(answer, mostBytes) as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const mostDiscardedBytes = 64 * 1024

/** Throws an answer away, of which only the status counts: one that breaks off, or never ends, has said that all the same. */
export async function discard(answer: IncomingMessage): Promise<void> {
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostDiscardedBytes) break
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
  } finally {
    answer.destroy()
  }
}
