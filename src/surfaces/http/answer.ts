import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './app.ts'
import { securityHeaders } from './security-headers.ts'

/**
 * JSON goes to the socket as the text it is. A `Response` would wrap it into a stream that is read again a moment later, which costs as much as all the rest
 * of a request. Without a socket, answers are made as anywhere.
 */
export const answerDirectly: MiddlewareHandler<HttpEnv> = (c, next) => {
  const outgoing = c.env?.outgoing
  if (outgoing && 'writeHead' in outgoing) {
    const send = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
      sendJson(outgoing as ServerResponse, JSON.stringify(value), status, headers)
    // The types that routes see tell which answers a route may give; what they carry is made here in either case.
    c.json = send as typeof c.json
  }
  return next()
}

function sendJson(outgoing: ServerResponse, text: string, status: number, headers: Record<string, string>): Response {
  outgoing.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...securityHeaders,
    ...headers,
  })
  outgoing.end(text)
  return RESPONSE_ALREADY_SENT
}

/** True if nothing is left to be said or written: the answer, or the beginning of a stream, is with the socket. */
export const isSent = (outgoing: { readonly headersSent: boolean } | undefined) => outgoing?.headersSent === true
