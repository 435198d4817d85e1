import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { invalid, PawlError, unavailable } from '../../domain/error.ts'
import { connectTo, findTarget } from './address.ts'
import type { Decision } from './host-rule.ts'
import type { Resolve } from './lookup.ts'
import { type Network, Refusal } from './network.ts'
import { secured } from './secured.ts'

export interface Fetched {
  /** Where it came from in the end. */
  readonly url: string
  readonly status: number
  readonly type: string
  readonly text: string
  /** There was more. */
  readonly isCut: boolean
}

export type Fetcher = (url: string, options?: { signal?: AbortSignal }) => Promise<Fetched>

/** A run's own way out, or rules and a resolver to go by. */
export type FetcherParts =
  | Pick<Network, 'open'>
  | { readonly decide: (host: string, port: number) => Decision; readonly resolve?: Resolve | undefined }

const mostBytes = 5 * 1024 * 1024
const mostRedirects = 5
const withinMs = 20_000
const redirects = [301, 302, 303, 307, 308]
const readable = /^(text\/|application\/(json|xml|javascript|ecmascript|yaml|toml|[\w.-]+\+(json|xml|yaml))\b)/i

/** Reads pages for an agent: GET only, text only, each step of the way by the rules. */
export function createFetcher(parts: FetcherParts): Fetcher {
  return async (given, options = {}) => {
    const signal = AbortSignal.any([AbortSignal.timeout(withinMs), ...(options.signal ? [options.signal] : [])])
    let url = readUrl(given)
    for (let hop = 0; hop <= mostRedirects; hop++) {
      const message = await get(url, parts, signal)
      const { statusCode: status = 0, headers } = message
      if (!redirects.includes(status) || headers.location === undefined) return read(message, url)
      message.destroy()
      url = readUrl(headers.location, url)
    }
    throw unavailable(`${given} was sent on more than ${mostRedirects} times; give the address where it ends.`)
  }
}

function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw invalid(`${shown(text)} is no http:// or https:// address.`)
  if (url.username !== '' || url.password !== '') throw invalid(`The address on ${url.host} holds a user name; leave that out.`)
  return url
}

async function get(url: URL, parts: FetcherParts, signal: AbortSignal): Promise<IncomingMessage> {
  const isTls = url.protocol === 'https:'
  const port = Number(url.port || (isTls ? 443 : 80))
  const plain = await open(parts, url.hostname, port, signal)
  const giveUp = () => plain.destroy()
  signal.addEventListener('abort', giveUp)
  plain.once('close', () => signal.removeEventListener('abort', giveUp))
  if (signal.aborted) giveUp()
  const socket = isTls ? await secured(plain, url.hostname, signal) : plain
  const headers = { host: url.host, accept: '*/*', 'accept-encoding': 'gzip, br', 'user-agent': 'Pawl', connection: 'close' }
  return new Promise((resolve, reject) => {
    const fail = () => reject(unavailable(`${url.host} gave no answer${signal.aborted ? ' in time' : ''}.`))
    httpRequest({ createConnection: () => socket, path: `${url.pathname}${url.search}`, headers, setHost: false })
      .once('response', resolve)
      .on('error', fail)
      .once('close', fail)
      .end()
  })
}

async function open(parts: FetcherParts, host: string, port: number, signal: AbortSignal): Promise<Socket> {
  if ('open' in parts) return parts.open(host, port, 'fetch')
  const decision = parts.decide(host, port)
  if (decision.verdict !== 'allow') throw new Refusal(`${decision.host}:${port} may not be read: ${decision.why}.`, decision.rule)
  return connectTo(await findTarget(decision, parts.resolve), signal)
}

async function read(message: IncomingMessage, url: URL): Promise<Fetched> {
  const type = message.headers['content-type'] ?? 'text/plain'
  if (!readable.test(type)) {
    message.destroy()
    throw new PawlError('unsupported', `${url.host} answered with ${shown(type)}, which is no text.`)
  }
  const body = unpacked(message)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, mostBytes - size))
      size += chunk.length
      if (size > mostBytes) break
    }
  } catch {
    throw unavailable(`The answer of ${url.host} broke off.`)
  } finally {
    message.destroy()
  }
  const text = decoderOf(type).decode(Buffer.concat(chunks))
  return { url: url.href, status: message.statusCode ?? 0, type, text, isCut: size > mostBytes }
}

/** What it unpacks to counts, so that a small answer cannot become a huge one. */
function unpacked(message: IncomingMessage): Readable {
  const encoding = message.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding === 'identity') return message
  if (encoding !== 'br' && encoding !== 'gzip' && encoding !== 'deflate')
    throw unavailable(`The answer is packed as ${shown(encoding)}, which was not asked for.`)
  const unpack = encoding === 'br' ? createBrotliDecompress() : createUnzip()
  message.on('error', (error) => unpack.destroy(error))
  return message.pipe(unpack)
}

function decoderOf(type: string): TextDecoder {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset)
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder()
    throw error
  }
}

const shown = (text: string) => JSON.stringify(text.slice(0, 200))
