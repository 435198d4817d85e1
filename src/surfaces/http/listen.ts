import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { invalid, messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { isLoopback } from './hosts.ts'

/** A certificate chain and its key. */
export interface Pem {
  readonly cert: string
  readonly key: string
}

type OnMalformed = (peer: string, status: number) => void

const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: true,
} as const
/** As many may come at once: whom the kernel turns away tries again only after a second. */
const maxConnections = 2_048
/** Of one machine that is not this one. */
const maxPerPeer = 256

/** A server that gives nobody more time, room or connections than they need. With a certificate it speaks TLS and nothing else. */
export function createListener(tls: Pem | undefined, listener: RequestListener, onMalformed: OnMalformed): Server {
  const server = serverFor(tls, listener)
  server.maxConnections = maxConnections
  capPerPeer(server)
  return server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseMalformed(error, socket, onMalformed))
}

function serverFor(tls: Pem | undefined, listener: RequestListener): Server {
  if (!tls) return createServer(limits, listener)
  try {
    const { subject } = new X509Certificate(tls.cert)
    if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key)))
      throw invalid(
        `The key in server.tls.key is not that of the certificate in server.tls.cert (${subject.replaceAll('\n', ', ')}).`,
      )
    return createSecureServer({ ...limits, cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' }, listener)
  } catch (error) {
    if (error instanceof PawlError) throw error
    throw invalid(`server.tls.cert and server.tls.key must be files with a certificate and its key as PEM: ${messageOf(error)}.`)
  }
}

/** What is no HTTP never becomes a request; it is answered, closed and written down all the same. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, onMalformed: OnMalformed): void {
  const status = clientErrors[error.code ?? ''] ?? 400
  onMalformed(socket.remoteAddress ?? 'unknown', status)
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
  else socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
}

const clientErrors: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** One machine elsewhere must not take all the connections there are. On this machine a thousand readers may well be honest. */
function capPerPeer(server: Server): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? 'unknown'
    if (isLoopback(peer.replace(/^::ffff:/, ''))) return
    const count = (counts.get(peer) ?? 0) + 1
    counts.set(peer, count)
    socket.once('close', () => {
      const left = counts.get(peer)! - 1
      if (left === 0) counts.delete(peer)
      else counts.set(peer, left)
    })
    if (count > maxPerPeer) socket.destroy()
  })
}

/** Resolves when the server listens, on any free port if the asked one is taken and nobody named it. */
export async function listen(server: Server, host: string, port: number, portAsked: boolean): Promise<void> {
  try {
    await listenOnce(server, host, port)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE' && !portAsked) return listenOnce(server, host, 0)
    if (code === 'EADDRINUSE')
      throw unavailable(`Port ${port} is taken; choose another with --port or stop the other program.`, error)
    if (code === 'EACCES')
      throw unavailable(`Port ${port} may not be used by this user; choose one above 1023 with --port.`, error)
    throw unavailable(`Cannot listen on ${host}:${port}: ${messageOf(error)}.`, error)
  }
}

function listenOnce(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: maxConnections }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
