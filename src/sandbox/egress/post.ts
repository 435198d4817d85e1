import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { connectTo, findTarget } from './address.ts'
import { readHost } from './host-name.ts'
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

/** So much of an answer is read, and thrown away; whoever sends more is cut off. */
const mostAnswerBytes = 64 * 1024

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
  const socket = await openReceiver(receiver, signal, resolve)
  try {
    const answer = await exchange(socket, url, { headers, body, signal })
    await discard(answer)
    return { status: answer.statusCode ?? 0, retryAfterMs: waitOf(answer) }
  } finally {
    socket.destroy()
  }
}

/** A connection to a receiver that may be spoken to. */
export async function openReceiver(
  { url: given, allowPrivate }: Receiver,
  signal: AbortSignal,
  resolve?: Resolve,
): Promise<Socket> {
  const url = new URL(given)
  const isTls = url.protocol === 'https:'
  if (!isTls && !allowPrivate) throw refused(`${url.host} is to be spoken to without TLS; use https.`)
  const host = readHost(url.hostname)
  if (!host) throw refused(`"${url.hostname}" is no host that can be looked up.`)
  const port = Number(url.port || (isTls ? 443 : 80))
  const decision = { verdict: 'allow', host: host.name, port, why: 'the settings name it', local: allowPrivate } as const
  const target = await findTarget(decision, resolve).catch((error: unknown) => {
    if (error instanceof PawlError && error.code === 'denied') throw refused(leadsInside(url.host, allowPrivate))
    throw error
  })
  const plain = await connectTo(target, signal).catch((error: unknown) => {
    throw signal.aborted ? late(url) : unavailable(`${url.host} cannot be reached.`, error)
  })
  if (!isTls) return plain
  return secured(plain, url.hostname, signal).catch((error: unknown) => {
    throw signal.aborted ? late(url) : error
  })
}

const refused = (message: string) => new PawlError('denied', message)
const late = (url: URL) => unavailable(`${url.host} gave no answer in time.`)
const leadsInside = (host: string, allowPrivate: boolean) =>
  allowPrivate
    ? `${host} leads to an address that nothing of Pawl may reach.`
    : `${host} leads to this machine or a private network; if that is meant, add "allowPrivate: true" beside its url.`

function exchange(
  socket: Socket,
  url: URL,
  { headers, body, signal }: { headers: Readonly<Record<string, string>>; body: string | Uint8Array; signal: AbortSignal },
): Promise<IncomingMessage> {
  const giveUp = () => socket.destroy()
  signal.addEventListener('abort', giveUp)
  socket.once('close', () => signal.removeEventListener('abort', giveUp))
  if (signal.aborted) giveUp()
  const all = {
    host: url.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Pawl',
    connection: 'close',
    ...headers,
  }
  return new Promise((answered, fail) => {
    const broken = (error?: Error) =>
      fail(signal.aborted ? late(url) : unavailable(`${url.host} gave no answer${error ? ` (${messageOf(error)})` : ''}.`))
    httpRequest({
      createConnection: () => socket,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: all,
      setHost: false,
    })
      .once('response', answered)
      .on('error', broken)
      .once('close', () => broken())
      .end(body)
  })
}

/** An answer that breaks off, or never ends, has said its status all the same. */
async function discard(answer: IncomingMessage): Promise<void> {
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostAnswerBytes) break
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
  } finally {
    answer.destroy()
  }
}

/** Only the form in seconds: the other one asks for a clock that both agree on. */
function waitOf({ headers }: IncomingMessage): number | undefined {
  const seconds = headers['retry-after']
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}
