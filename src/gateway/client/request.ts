import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isObject } from '../../domain/base/object.ts'
import { invalid } from '../../domain/error.ts'
import { wires } from '../wires/index.ts'
import { hasMoreValues } from '../wires/json-members.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { Asked, Wire } from '../wires/wire.ts'

/** What a client asks for, by its path. */
export interface Addressed {
  readonly wire: Wire
  /** Undefined if the path means nothing. */
  readonly asked: Asked | undefined
  /** With its query, without the token. */
  readonly path: string
}

/** Which format it is. Some paths belong to several; and one that belongs to none is refused in the format that the client seems to speak. */
export function addressed(method: string, url: string, headers: IncomingHttpHeaders): Addressed {
  const mark = url.indexOf('?')
  const bare = mark === -1 ? url : url.slice(0, mark)
  const path = mark === -1 ? url : bare + withoutKey(url.slice(mark))
  let first: Addressed | undefined
  const likely = likelyWire(bare, headers)
  if (!isReadable(bare)) return { wire: likely, asked: undefined, path }
  const query = mark === -1 ? noQuery : new URLSearchParams(url.slice(mark))
  for (const wire of served) {
    const asked = wire.asked(method, bare, query)
    if (!asked) continue
    if (wire === likely || asked.kind === 'generate') return { wire, asked, path }
    first ??= { wire, asked, path }
  }
  return first ?? { wire: likely, asked: undefined, path }
}

const noQuery = new URLSearchParams()

/** A path may hold anything, also signs that are none. */
function isReadable(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

const served: readonly Wire[] = Object.values(wires)

function likelyWire(path: string, headers: IncomingHttpHeaders): Wire {
  const name =
    headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined || path.startsWith('/v1/messages')
      ? 'anthropic'
      : headers['x-goog-api-key'] !== undefined || headers['x-goog-api-client'] !== undefined || path.startsWith('/v1beta')
        ? 'gemini'
        : path.startsWith('/api/')
          ? 'ollama'
          : path.includes('/responses')
            ? 'openai-responses'
            : 'openai-chat'
  return wires[name]
}

/** Whether the token is in one of the places where formats put a key. */
export function hasToken({ headers }: IncomingMessage, url: string, token: Buffer): boolean {
  return (
    isSame(headers['x-api-key'], token) ||
    isSame(headers.authorization?.replace(/^bearer\s+/i, ''), token) ||
    isSame(headers['x-goog-api-key'], token) ||
    isSame(keyIn(url), token)
  )
}

function isSame(given: string | string[] | undefined, wanted: Buffer): boolean {
  if (typeof given !== 'string') return false
  const bytes = Buffer.from(given)
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}

const keyParameter = /[?&]key=([^&]*)/

function keyIn(url: string): string | undefined {
  const text = keyParameter.exec(url)?.[1]
  if (text === undefined || !text.includes('%')) return text
  return new URLSearchParams(`key=${text}`).get('key') ?? undefined
}

/** By these, however they are written, a provider may take a request for somebody else's. */
const authorizing = /^(?:\$?key|api[-_]?key|access_token|oauth_token)$/i

function withoutKey(query: string): string {
  if (!/key|token|%/i.test(query)) return query
  const kept = query
    .slice(1)
    .split('&')
    .filter((part) => !authorizing.test(new URLSearchParams(part).keys().next().value ?? ''))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/**
 * The whole body; undefined if it is larger than allowed, which is known before it is read where the client says so. `hold` is asked before a piece is kept, and what it
 * throws ends the reading.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => void = () => {},
): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined
  const body = Promise.withResolvers<Buffer | undefined>()
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) return done(undefined)
    try {
      hold(chunk.length)
      chunks.push(chunk)
    } catch (thrown) {
      stop()
      request.pause()
      body.reject(thrown)
    }
  }
  const end = () => done(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  const leave = () => {
    stop()
    body.reject(new ClientGone())
  }
  // The request lives as long as its answer takes, and would keep its body with whatever listens to it.
  const stop = () => request.off('data', take).off('end', end).off('close', leave).off('error', leave)
  const done = (bytes: Buffer | undefined) => {
    stop()
    request.pause()
    body.resolve(bytes)
  }
  request.on('data', take).on('end', end).on('close', leave).on('error', leave)
  return body.promise
}

/** The client left before it had said what it wants. */
export class ClientGone extends Error {}

/** Takes and throws away what a client still sends that is refused: most do not look at the answer before they have said everything. */
export function drain(request: IncomingMessage): Promise<void> {
  let left = maxDrainedBytes
  return new Promise((resolve) => {
    if (request.complete) return resolve()
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) resolve()
    })
    request.once('end', resolve)
    request.once('close', resolve)
    request.once('error', () => resolve())
    request.resume()
  })
}

const maxDrainedBytes = 256 * 1024 * 1024

/** A conversation as long as any model can read has some thousands. */
const maxValues = 500_000
/** What is smaller is read in a moment, whatever it holds. */
const harmlessBytes = 1024 * 1024

export function parsedBody(bytes: Buffer): JsonObject {
  if (bytes.length > harmlessBytes && hasMoreValues(bytes, maxValues))
    throw invalid(`The body of the request holds more than ${maxValues} values.`)
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalid('The body of the request is not JSON.')
  }
  if (!isObject(value)) throw invalid('The body of the request is not a JSON object.')
  return value as JsonObject
}
