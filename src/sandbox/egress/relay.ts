import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { unavailable } from '../../domain/error.ts'
import { ownHeaders } from './headers.ts'
import { tunnel } from './tunnel.ts'

/** Where a request goes on to: an open connection, and how it is addressed there. */
export interface Onward {
  readonly socket: Socket
  readonly authority: string
  readonly path: string
}

/** Nobody says anything for this long: a model that thinks is silent for minutes, a connection that was forgotten for ever. */
export const idleMs = 15 * 60_000

/** Sends a request on and its answer back, both as they come. Rejects as long as nothing of an answer was sent. */
export async function relay(request: IncomingMessage, response: ServerResponse, onward: Onward): Promise<void> {
  const onwards = sendOn(request, onward, {})
  response.once('close', () => onwards.destroy())
  if (response.destroyed) onwards.destroy()
  pipeline(request, onwards, () => undefined)
  const answer = await answerTo(onwards)
  if (answer.kind !== 'response') throw unavailable('It switched to another protocol without being asked.')
  const { message } = answer
  response.writeHead(message.statusCode ?? 502, message.statusMessage, [...ownHeaders(message.rawHeaders), 'connection', 'close'])
  // A stream of events must be seen to have begun before its first event.
  response.flushHeaders()
  await new Promise<void>((done) => pipeline(message, response, () => done()))
}

/** The same for a request that asks to switch to WebSocket. */
export async function relayUpgrade(request: IncomingMessage, client: Socket, onward: Onward): Promise<void> {
  const onwards = sendOn(request, onward, { connection: 'upgrade', upgrade: 'websocket' })
  client.once('close', () => onwards.destroy())
  onwards.end()
  const answer = await answerTo(onwards)
  if (answer.kind === 'response') {
    client.write(head(answer.message, ['connection', 'close']))
    await new Promise<void>((done) => pipeline(answer.message, client, () => done()))
    return
  }
  client.write(head(answer.message, ['connection', 'upgrade', 'upgrade', 'websocket']))
  if (answer.head.length > 0) client.write(answer.head)
  tunnel(client, answer.socket, idleMs)
}

function sendOn(request: IncomingMessage, { socket, authority, path }: Onward, more: Record<string, string>): ClientRequest {
  const headers = ['host', authority, ...ownHeaders(request.rawHeaders), ...Object.entries(more).flat()]
  // Else a body of unknown length would go on without any frame, and its end could be taken for the next request.
  if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked')
  if (more.connection === undefined) headers.push('connection', 'close')
  const onwards = httpRequest({ createConnection: () => socket, method: request.method, path, headers, setHost: false })
  onwards.setTimeout(idleMs, () => onwards.destroy())
  return onwards
}

type Answer =
  | { kind: 'response'; message: IncomingMessage }
  | { kind: 'upgrade'; message: IncomingMessage; socket: Socket; head: Buffer }

function answerTo(onwards: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    onwards.once('response', (message) => resolve({ kind: 'response', message }))
    onwards.once('upgrade', (message, socket, head) => resolve({ kind: 'upgrade', message, socket: socket as Socket, head }))
    onwards.on('error', () => reject(unavailable('It gave no answer.')))
    onwards.once('close', () => reject(unavailable('It gave no answer.')))
  })
}

function head({ statusCode = 502, statusMessage, rawHeaders }: IncomingMessage, more: readonly string[]): string {
  const all = [...ownHeaders(rawHeaders), ...more]
  const lines = all.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []))
  return `${[`HTTP/1.1 ${statusCode} ${statusMessage || (STATUS_CODES[statusCode] ?? '')}`, ...lines].join('\r\n')}\r\n\r\n`
}
