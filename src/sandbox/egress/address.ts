import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { PawlError, unavailable } from '../../domain/error.ts'
import { classOf } from './address-class.ts'
import type { Decision } from './host-rule.ts'
import { type Resolve, resolveByHost } from './lookup.ts'

/** An allowed host whose addresses were looked up, once, and found to be such as it may have. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly addresses: readonly string[]
}

const connectMs = 15_000
/** Node gives each address but the last a quarter of a second, which is little across the world. */
const patient = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 }

/** Rejects with `denied` if even one of its addresses is none that a run may reach: a name that leads both out and in is a trap. */
export async function findTarget(decision: Decision, resolve: Resolve = resolveByHost): Promise<Target> {
  const { host, port, local } = decision
  const addresses = isIP(host) ? [host] : await resolve(host).catch(() => [])
  if (addresses.length === 0) throw unavailable(`The host ${host} has no address that Pawl can find.`)
  const own = ownAddresses()
  for (const address of addresses) {
    const kind = classOf(address) === 'public' && own.has(address) ? 'local' : classOf(address)
    if (kind === 'public' || (kind === 'local' && local)) continue
    throw new PawlError(
      'denied',
      kind === 'local' ? localSentence(host, port) : `${host} leads to an address that no run may reach.`,
    )
  }
  return { host, port, addresses }
}

/** Connects to exactly the addresses that were checked; nothing is looked up again. */
export async function connectTo(target: Target, signal: AbortSignal): Promise<Socket> {
  const { host, port, addresses } = target
  const checked: LookupFunction = (_, options, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    if (options.all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
  const socket = netConnect({ host, port, lookup: checked, ...patient, allowHalfOpen: true, noDelay: true })
  await connected(socket, 'connect', AbortSignal.any([signal, AbortSignal.timeout(connectMs)]))
  if (addresses.includes(socket.remoteAddress ?? '')) return socket
  socket.destroy()
  throw unavailable(`The host ${host} answered from another address than the one that was asked.`)
}

/** Rejects without the words of the network: they tell what lies behind it. */
export async function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  const done = Promise.withResolvers<void>()
  const fail = () => done.reject(unavailable('It cannot be reached.'))
  const give = () => socket.destroy()
  socket.once(event, done.resolve).once('error', fail).once('close', fail)
  signal.addEventListener('abort', give)
  if (signal.aborted) give()
  try {
    await done.promise
  } finally {
    signal.removeEventListener('abort', give)
    socket.off(event, done.resolve).off('close', fail)
    // From here on whoever holds it listens; an error in between must not end the process.
    socket.off('error', fail).on('error', () => socket.destroy())
  }
}

/** A machine that has a public address reaches its own listeners by it. */
function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)))
}

const localSentence = (host: string, port: number) =>
  `${host} leads to this machine or a private network; a person can permit that with "${host}:${port} local" in network.allow of the profile.`
