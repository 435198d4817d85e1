import type { ClientRequest, IncomingMessage } from 'node:http'
import { messageOf, unavailable } from '../../domain/error.ts'
import type { Transport, WireRequest } from './transport.ts'

// An `import` of node:http reads all its exports, one of which loads the whole fetch implementation: 60 ms of the CLI's start.
const http = process.getBuiltinModule('node:http')
const loadHttps = () => process.getBuiltinModule('node:https')

/** How long a daemon that took the request may be silent. A stream beats every 15 s. */
const silenceMs = 60_000

export function createNodeTransport(options: { url: string; token: string; certificate?: string | undefined }): Transport {
  const base = new URL(options.url)
  const wire = base.protocol === 'https:' ? loadHttps() : http
  const agent = new wire.Agent({ keepAlive: true, maxSockets: 64, ...pinned(options.certificate) })

  const connect = (request: WireRequest, repeated = false): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent: ClientRequest = wire.request({
        agent,
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port,
        method: request.method,
        path: request.path,
        headers: {
          Host: base.host,
          Authorization: `Bearer ${options.token}`,
          ...request.headers,
          ...(request.body === undefined
            ? {}
            : { 'Content-Type': typeOf(request.body), 'Content-Length': Buffer.byteLength(request.body) }),
        },
        timeout: silenceMs,
        ...(request.signal ? { signal: request.signal } : {}),
      })
      sent.once('response', resolve)
      sent.once('timeout', () => sent.destroy(new Error(`it was silent for ${silenceMs / 1000} s`)))
      sent.once('error', (error: NodeJS.ErrnoException) => {
        if (request.signal?.aborted) return reject(request.signal.reason)
        // The daemon may close a kept connection in the moment we choose it; nothing of the request was read then.
        const stale = sent.reusedSocket && error.code === 'ECONNRESET' && !repeated
        if (stale && request.repeatable) return resolve(connect(request, true))
        reject(unavailable(`No Pawl daemon answers at ${base.origin} (${messageOf(error)}); start one with "pawl serve".`, error))
      })
      sent.end(request.body)
    })

  return {
    async send(request) {
      const answer = await connect(request)
      const parts: string[] = []
      try {
        for await (const part of textOf(answer)) parts.push(part)
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason
        throw unavailable(`The Pawl daemon at ${base.origin} broke off in the middle of its answer (${messageOf(error)}).`, error)
      }
      return { status: answer.statusCode ?? 0, body: parts.join('') }
    },
    async open(request) {
      const answer = await connect(request)
      return { status: answer.statusCode ?? 0, chunks: textOf(answer) }
    },
    async take(request) {
      const answer = await connect(request)
      const parts: Uint8Array[] = []
      try {
        for await (const part of answer) parts.push(part as Uint8Array)
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason
        throw unavailable(`The Pawl daemon at ${base.origin} broke off in the middle of its answer (${messageOf(error)}).`, error)
      }
      return { status: answer.statusCode ?? 0, bytes: Buffer.concat(parts) }
    },
    close: () => agent.destroy(),
  }
}

const typeOf = (body: NonNullable<WireRequest['body']>) =>
  typeof body === 'string' ? 'application/json' : 'application/octet-stream'

/** Node puts a character that was split between two chunks together again. */
const textOf = (answer: IncomingMessage): AsyncIterable<string> => answer.setEncoding('utf8')

/** Trusts one certificate, by its content, and no other. */
function pinned(certificate: string | undefined) {
  if (certificate === undefined) return {}
  const { X509Certificate } = process.getBuiltinModule('node:crypto')
  const expected = new X509Certificate(certificate).fingerprint256
  return {
    ca: certificate,
    allowPartialTrustChain: true,
    checkServerIdentity: (_host: string, shown: { fingerprint256: string }) =>
      shown.fingerprint256 === expected ? undefined : new Error('it shows another certificate than the one in its run file'),
  }
}
