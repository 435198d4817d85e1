import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Log, silentLog } from '../../base/log.ts'
import { type ErrorCode, PawlError } from '../../domain/error.ts'
import { printable } from './host-rule.ts'
import { Refusal } from './network.ts'

export interface PlainRefusal {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const statuses: Partial<Record<ErrorCode, readonly [number, string]>> = {
  invalid: [400, 'Bad Request'],
  denied: [403, 'Forbidden'],
  not_found: [404, 'Not Found'],
  conflict: [409, 'Conflict'],
  unavailable: [502, 'Bad Gateway'],
}

/** What a program inside the walls is told. The reasons of the network beyond stay in our log. */
export function plainRefusal(error: unknown, log: Log = silentLog): PlainRefusal {
  const isOurs = error instanceof PawlError
  if (!isOurs) log.error('the way out of the walls failed', { error: String(error) })
  const [status, reason] = (isOurs && statuses[error.code]) || [502, 'Bad Gateway']
  const text = `${isOurs ? error.message : 'Pawl could not do this; its log says why.'}\n`
  const denied = error instanceof Refusal ? { 'x-pawl-denied': error.rule.split(' ').map(printable).join(' ') } : {}
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': `${Buffer.byteLength(text)}`, ...denied }
  return { status, reason, headers: { ...headers, connection: 'close' }, text }
}

export function sendRefusal(response: ServerResponse, error: unknown, log?: Log): void {
  if (response.headersSent) return void response.destroy()
  const { status, reason, headers, text } = plainRefusal(error, log)
  response.writeHead(status, reason, headers).end(text)
}

/** On a connection that has left the HTTP server. */
export function writeRefusal(socket: Socket, error: unknown, log?: Log): void {
  const { status, reason, headers, text } = plainRefusal(error, log)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`${[`HTTP/1.1 ${status} ${reason}`, ...lines].join('\r\n')}\r\n\r\n${text}`, () => socket.destroySoon())
}
