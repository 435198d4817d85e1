import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { invalid, messageOf, notFound, unavailable } from '../../domain/error.ts'
import { connected } from './address.ts'
import type { Network } from './network.ts'
import { type Onward, relay, relayUpgrade } from './relay.ts'

const prefix = '/model'
const connectMs = 15_000

/** Is it for the agent's model endpoint? */
export const isForModel = (request: IncomingMessage) => /^\/model(?:[/?]|$)/.test(request.url ?? '')

/** Sends `/model/…` on to the endpoint that the agent is configured with. The program's own key is in its headers. */
export async function forwardToModel(request: IncomingMessage, response: ServerResponse, network: Network): Promise<void> {
  await relay(request, response, await onwardOf(request, network))
}

export async function forwardUpgrade(request: IncomingMessage, client: Socket, network: Network): Promise<void> {
  await relayUpgrade(request, client, await onwardOf(request, network))
}

async function onwardOf(request: IncomingMessage, network: Network): Promise<Onward> {
  const base = network.model
  if (!base) throw notFound('This agent has no model endpoint of its own; its program talks to its maker, through the proxy.')
  const path = pathBelow(base, (request.url ?? '').slice(prefix.length))
  const socket = await dial(base).catch((error: unknown) => {
    network.log.warn('the model endpoint cannot be reached', { endpoint: base.origin, error: messageOf(error) })
    throw unavailable('The model endpoint of this agent cannot be reached.')
  })
  return { socket: network.keep(socket), authority: base.host, path }
}

/** What was asked for, below the endpoint's own path and never beside it. */
export function pathBelow(base: URL, rest: string): string {
  const [path = '', ...query] = rest.split('?')
  let decoded = path
  // Twice, for servers that decode what was decoded already.
  for (let times = 0; times < 2; times++) decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => fromHex(hex))
  if (decoded.split(/[/\\]/).some((part) => part === '.' || part === '..'))
    throw invalid('The path leads out of the model endpoint.')
  return `${base.pathname.replace(/\/$/, '')}${path}${query.length > 0 ? `?${query.join('?')}` : ''}` || '/'
}

const fromHex = (hex: string) => String.fromCharCode(Number.parseInt(hex, 16))

async function dial(base: URL): Promise<Socket> {
  const isTls = base.protocol === 'https:'
  const host = base.hostname.replace(/^\[|\]$/g, '')
  const place = { host, port: Number(base.port || (isTls ? 443 : 80)), noDelay: true }
  const socket = isTls ? tlsConnect({ ...place, servername: host, ALPNProtocols: ['http/1.1'] }) : netConnect(place)
  await connected(socket, isTls ? 'secureConnect' : 'connect', AbortSignal.timeout(connectMs))
  return socket
}
