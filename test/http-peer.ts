import { connect, type Socket } from 'node:net'
import { silentLog } from '../src/base/log.ts'
import { createHttpSurface, type HttpSurface, type HttpSurfaceOptions } from '../src/surfaces/http/server.ts'
import { fakeAudit, fakeEntrance } from './fake-entrance.ts'
import { type FakeRuntime, fakeRuntime } from './fake-runtime.ts'

export const token = 'test-token-0123456789abcdef0123456789'
export const bearer = `Bearer ${token}`
/** The name under which the app may be asked in-process. */
export const testHost = 'pawl.test'

export interface Listening {
  readonly runtime: FakeRuntime
  readonly surface: HttpSurface
  readonly url: string
  readonly port: number
}

export function surfaceOver(runtime: FakeRuntime, options: Partial<HttpSurfaceOptions> = {}): HttpSurface {
  return createHttpSurface({
    ...{ runtime, entrance: fakeEntrance(token), audit: fakeAudit(), log: silentLog, version: '1.2.3', allowedHosts: [testHost] },
    // Tests knock more often than anybody may.
    ...{ rates: { failures: { burst: 1e9, perSecond: 1 }, requests: { burst: 1e9, perSecond: 1 } }, ...options },
  })
}

/** The surface on a real socket, over a runtime in memory. */
export async function listening(options: Partial<HttpSurfaceOptions> = {}): Promise<Listening> {
  const runtime = fakeRuntime()
  const surface = surfaceOver(runtime, options)
  return { runtime, surface, ...(await surface.start({ host: '127.0.0.1', port: 0, portAsked: true })) }
}

/** Asks the app in-process, with the right Host and token unless told otherwise (`null` leaves a header out). */
export async function ask(
  surface: HttpSurface,
  method: string,
  path: string,
  options: { headers?: Record<string, string | null>; json?: unknown } = {},
) {
  const all: Record<string, string | null> = {
    host: testHost,
    authorization: bearer,
    ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  }
  const headers = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
  const body = options.json === undefined ? null : typeof options.json === 'string' ? options.json : JSON.stringify(options.json)
  if (body !== null) headers.push(['content-length', String(Buffer.byteLength(body))])
  const response = await surface.app.request(path, { method, headers, body })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, json: isJson && text !== '' ? JSON.parse(text) : undefined }
}

/** Sends bytes as they are and gives back all that comes until the server closes. */
export function exchange(
  port: number,
  text: string | Buffer,
  during?: (socket: Socket) => void,
): Promise<{ status: number; text: string; ms: number }> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text)
      during?.(socket)
    })
    let got = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      got += part
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server that closes while we are still sending resets the connection; what it said before stands.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(got)?.[1] ?? 0), text: got, ms: performance.now() - startedAt }),
    )
  })
}

/** A request as text, closing after its answer. */
export const request = (line: string, headers: readonly string[], body = '') =>
  `${line} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`
