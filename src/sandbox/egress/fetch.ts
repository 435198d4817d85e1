import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { TextDecoder } from 'node:util'
import { invalid, PawlError, unavailable } from '../../domain/error.ts'
import { connectTo, findTarget } from './address.ts'
import type { Decision } from './host-rule.ts'
import { type Connect, createHttpClient, type HttpClient, NoAnswer, unpacked } from './http-client.ts'
import type { Resolve } from './lookup.ts'
import { type Network, Refusal } from './network.ts'

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
  const connect: Connect = (host, port, signal) => open(parts, host, port, signal)
  return async (given, options = {}) => {
    const signal = AbortSignal.any([AbortSignal.timeout(withinMs), ...(options.signal ? [options.signal] : [])])
    const client = createHttpClient(connect)
    let url = readUrl(given)
    try {
      for (let hop = 0; hop <= mostRedirects; hop++) {
        const message = await get(client, url, signal)
        const { statusCode: status = 0, headers } = message
        if (!redirects.includes(status) || headers.location === undefined) return await read(message, url)
        message.destroy()
        url = readUrl(headers.location, url)
      }
    } finally {
      client.close()
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

/** Says nothing of what the network said: that would tell what lies behind it. */
const get = (client: HttpClient, url: URL, signal: AbortSignal): Promise<IncomingMessage> =>
  client.send(url, { headers: { accept: '*/*', 'accept-encoding': 'gzip, br' }, signal }).catch((error: unknown) => {
    if (error instanceof PawlError && !(error instanceof NoAnswer)) throw error
    throw unavailable(`${url.host} gave no answer${signal.aborted ? ' in time' : ''}.`)
  })

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
  const encoding = message.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (!['identity', 'br', 'gzip', 'deflate'].includes(encoding)) {
    message.destroy()
    throw unavailable(`The answer is packed as ${shown(encoding)}, which was not asked for.`)
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
