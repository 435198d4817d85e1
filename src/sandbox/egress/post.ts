import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PawlError, unavailable } from '../../domain/error.ts'
import { connectTo, findTarget } from './address.ts'
import { readHost } from './host-name.ts'
import { type Connect, createHttpClient, discard, portOf } from './http-client.ts'
import type { Resolve } from './lookup.ts'
import { secured } from './secured.ts'

export interface Receiver {
  readonly url: string
  /** May lead to this machine or a private network, and without TLS. */
  readonly allowPrivate: boolean
}

export interface Posted {
  readonly status: number
  /** How long the receiver wants to be left alone. */
  readonly retryAfterMs?: number | undefined
}

/**
 * Posts JSON, or what the headers say, to a receiver: its addresses are looked up and checked now, exactly those are connected to, and nothing is followed. Rejects with a `PawlError` that
 * says why, without the path of the address, which may be a secret, and without anything that the receiver said.
 */
export async function post(
  receiver: Receiver,
  {
    headers,
    body,
    signal,
    resolve,
  }: { headers: Readonly<Record<string, string>>; body: string | Uint8Array; signal: AbortSignal; resolve?: Resolve },
): Promise<Posted> {
  const url = new URL(receiver.url)
  refuseOpen(receiver, url)
  const client = createHttpClient(connecting(receiver, url, resolve))
  try {
    const answer = await client.send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal,
    })
    await discard(answer)
    return { status: answer.statusCode ?? 0, retryAfterMs: waitOf(answer) }
  } catch (error) {
    throw signal.aborted ? late(url) : error
  } finally {
    client.close()
  }
}

/** A connection to a receiver that may be spoken to. */
export async function openReceiver(receiver: Receiver, signal: AbortSignal, resolve?: Resolve): Promise<Socket> {
  const url = new URL(receiver.url)
  refuseOpen(receiver, url)
  try {
    const plain = await connecting(receiver, url, resolve)(url.hostname, portOf(url), signal)
    return url.protocol === 'https:' ? await secured(plain, url.hostname, signal) : plain
  } catch (error) {
    throw signal.aborted ? late(url) : error
  }
}

function refuseOpen({ allowPrivate }: Receiver, url: URL): void {
  if (url.protocol !== 'https:' && !allowPrivate) throw refused(`${url.host} is to be spoken to without TLS; use https.`)
}

/** Its addresses are looked up and checked each time, and exactly those are connected to. */
const connecting =
  ({ allowPrivate }: Receiver, url: URL, resolve: Resolve | undefined): Connect =>
  async (_, port, signal) => {
    const host = readHost(url.hostname)
    if (!host) throw refused(`"${url.hostname}" is no host that can be looked up.`)
    const decision = { verdict: 'allow', host: host.name, port, why: 'the settings name it', local: allowPrivate } as const
    const target = await findTarget(decision, resolve).catch((error: unknown) => {
      if (error instanceof PawlError && error.code === 'denied') throw refused(leadsInside(url.host, allowPrivate))
      throw error
    })
    return connectTo(target, signal).catch((error: unknown) => {
      throw unavailable(`${url.host} cannot be reached.`, error)
    })
  }

const refused = (message: string) => new PawlError('denied', message)
const late = (url: URL) => unavailable(`${url.host} gave no answer in time.`)
const leadsInside = (host: string, allowPrivate: boolean) =>
  allowPrivate
    ? `${host} leads to an address that nothing of Pawl may reach.`
    : `${host} leads to this machine or a private network; if that is meant, add "allowPrivate: true" beside its url.`

/** Only the form in seconds: the other one asks for a clock that both agree on. */
function waitOf({ headers }: IncomingMessage): number | undefined {
  const seconds = headers['retry-after']
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}
