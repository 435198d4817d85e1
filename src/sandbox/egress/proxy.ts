import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../base/log.ts'
import { invalid } from '../../domain/error.ts'
import { forwardToModel, forwardUpgrade, isForModel } from './forward.ts'
import { isForProxy, proxyConnect, proxyRequest, proxyUpgrade } from './http-proxy.ts'
import type { Network } from './network.ts'
import { sendRefusal, writeRefusal } from './refusal.ts'
import { nextChunk } from './socket-reader.ts'
import { isSocks, serveSocks } from './socks.ts'

export interface Proxy {
  /** A new connection: SOCKS is served here, all else is given to the HTTP server. */
  accept(client: Socket): void
  /** Is the request for the world outside, and not for the server itself? */
  takes(request: IncomingMessage): boolean
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Ends every connection. */
  cut(): void
  /** Ends those on which something waits to be read by the client. */
  cutUnread(): void
}

export interface ProxyOptions {
  readonly log: Log
  /** How long a client may take to say what it wants. */
  readonly patienceMs: number
}

/** Only these leave the HTTP server; other wishes to switch are overlooked, as the protocol allows. */
export const switchesProtocol = (request: IncomingMessage) =>
  request.headers.upgrade?.toLowerCase() === 'websocket' && (isForProxy(request) || isForModel(request))

/**
 * The way out of the walls, on the connections of an HTTP server: requests with a whole address, CONNECT, SOCKS, and the model endpoint.
 * Whose rules count is asked anew for each: `currentNetwork` rejects while no run may go out.
 */
export function createProxy(http: HttpServer, currentNetwork: () => Promise<Network>, options: ProxyOptions): Proxy {
  const { log, patienceMs } = options
  const clients = new Set<Socket>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const network = await currentNetwork()
      network.keep(response)
      await (isForModel(request) ? forwardToModel : proxyRequest)(request, response, network)
    } catch (error) {
      // One that is cut off while it still sends does not read the refusal.
      request.resume()
      sendRefusal(response, error, log)
    }
  }

  async function leave(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    try {
      if (head.length > 0) client.unshift(head)
      const network = await currentNetwork()
      network.keep(client)
      if (request.method === 'CONNECT') await proxyConnect(request, client, network)
      else if (!switchesProtocol(request)) throw invalid('Nothing here switches to another protocol.')
      else await (isForModel(request) ? forwardUpgrade : proxyUpgrade)(request, client, network)
    } catch (error) {
      writeRefusal(client, error, log)
    }
  }

  async function begin(client: Socket): Promise<void> {
    client.setTimeout(patienceMs, () => client.destroy())
    const first = await nextChunk(client)
    client.setTimeout(0).removeAllListeners('timeout')
    client.unshift(first)
    if (isSocks(first[0]!)) return serveSocks(client, currentNetwork, patienceMs)
    http.emit('connection', client)
    client.resume()
  }

  http.on('connect', (request, client, head) => void leave(request, client as Socket, head))
  http.on('upgrade', (request, client, head) => void leave(request, client as Socket, head))
  return {
    accept(client) {
      clients.add(client)
      client.once('close', () => clients.delete(client))
      client.allowHalfOpen = true
      // What ends an answer is small, and would wait until the client has confirmed what came before.
      client.setNoDelay(true)
      client.on('error', () => client.destroy())
      begin(client).catch(() => client.destroy())
    },
    takes: (request) => isForProxy(request) || isForModel(request),
    serve,
    cut() {
      for (const client of [...clients]) client.destroy()
    },
    cutUnread() {
      for (const client of [...clients]) if (client.writableLength > 0) client.destroy()
    },
  }
}
