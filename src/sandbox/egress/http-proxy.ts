import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../../domain/error.ts'
import { authorityOf, readHost, readPort, splitAuthority } from './host-name.ts'
import { printable } from './host-rule.ts'
import type { Network } from './network.ts'
import { idleMs, type Onward, relay, relayUpgrade } from './relay.ts'
import { tunnel } from './tunnel.ts'

/** Is this request meant for somebody else, and we for a proxy? */
export const isForProxy = (request: IncomingMessage) => /^[a-z][a-z0-9+.-]*:/i.test(request.url ?? '')

/** `GET http://host/path`. */
export async function proxyRequest(request: IncomingMessage, response: ServerResponse, network: Network): Promise<void> {
  await relay(request, response, await onwardOf(request, network))
}

/** The same, asking for a WebSocket. */
export async function proxyUpgrade(request: IncomingMessage, client: Socket, network: Network): Promise<void> {
  await relayUpgrade(request, client, await onwardOf(request, network))
}

/** `CONNECT host:port`. */
export async function proxyConnect(request: IncomingMessage, client: Socket, network: Network): Promise<void> {
  const target = request.url ?? ''
  const parts = splitAuthority(target)
  const port = readPort(parts?.port ?? '')
  if (!parts || port === undefined) throw invalid(`CONNECT needs host:port, not ${printable(target)}.`)
  const upstream = await network.open(parts.host, port, 'connect')
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  tunnel(client, upstream, idleMs)
}

/** Read by hand: the URL class turns `0x7f.1` into an address and forgets what stood before an `@`. */
async function onwardOf(request: IncomingMessage, network: Network): Promise<Onward> {
  const target = request.url ?? ''
  const found = /^http:\/\/([^/?#\\]*)((?:[/?]|$)[^#]*)$/i.exec(target)
  if (!found) throw invalid(`Only http:// goes through here as it is, not ${printable(target)}; for https:// send CONNECT.`)
  const parts = splitAuthority(found[1]!)
  const port = parts?.port === undefined ? 80 : readPort(parts.port)
  if (!parts || port === undefined) throw invalid(`${printable(found[1]!)} is no host with a port.`)
  const socket = await network.open(parts.host, port, 'http')
  const named = authorityOf(readHost(parts.host)?.name ?? parts.host, port)
  const rest = found[2]!
  return { socket, authority: port === 80 ? named.replace(/:80$/, '') : named, path: rest.startsWith('/') ? rest : `/${rest}` }
}
