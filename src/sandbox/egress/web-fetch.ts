import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { bounded, createHttpClient } from './http-client.ts'

/** Connects to a host that may be reached; rejects with a `PawlError`. */
export type Opener = (host: string, port: number) => Promise<Socket>

export interface WebFetch {
  /** As the fetch of the platform, but by that way out alone, and following nothing. */
  (url: string | URL, init?: RequestInit): Promise<Response>
  close(): void
}

/** Nothing that is sensible is larger, and a peer may never end. */
const mostBytes = 64 * 1024 * 1024

/** Speaks HTTP over connections that somebody else opens, and keeps them for the next request. */
export function createWebFetch(open: Opener): WebFetch {
  const client = createHttpClient(open, { keep: true })
  const webFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, { ...init, redirect: 'manual' })
    const answer = await client.send(new URL(request.url), {
      method: request.method,
      headers: { 'accept-encoding': 'gzip, br', ...Object.fromEntries(request.headers) },
      body: request.body ? Buffer.from(await request.arrayBuffer()) : undefined,
      // A stream of events has no end that anybody could name.
      signal: init?.signal ?? new AbortController().signal,
    })
    return responseOf(answer)
  }
  return Object.assign(webFetch, { close: client.close })
}

const bodiless = [101, 204, 205, 304]

function responseOf(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    if (name === 'content-encoding' || name === 'content-length') continue
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  if (bodiless.includes(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(bounded(answer, mostBytes)) as ReadableStream<Uint8Array>, { status, headers })
}
