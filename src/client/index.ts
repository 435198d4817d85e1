import { type Client, createClientOver } from './client.ts'
import { createNodeTransport } from './transport/node-transport.ts'

/**
 * A client of one daemon. `signal` ends everything it does; `name` is written into the journal as the one who asked; with `certificate`, a daemon that speaks TLS must
 * show exactly that one, whoever issued it and whatever it is called.
 */
export function createClient(options: {
  url: string
  token: string
  certificate?: string | undefined
  signal?: AbortSignal | undefined
  name?: string | undefined
}): Client {
  return createClientOver(createNodeTransport(options), options)
}

export { type Client, createClientOver, type ListSessions, type ListTasks } from './client.ts'
export type { FollowOptions } from './transport/follow.ts'
export { type SseMessage, SseParser } from './transport/sse-parser.ts'
export type { Transport, WireAnswer, WireBytes, WireRequest, WireStream } from './transport/transport.ts'
