import { type IncomingMessage, request as plainRequest } from 'node:http'

export interface Posted {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: AsyncIterable<Buffer>
}

/**
 * Sends JSON and gives what comes back as it comes. Not `fetch`, which gives up after five minutes without an answer: a large model may need longer to be loaded.
 * It goes straight there, whatever proxy is set.
 */
export async function post(
  url: string,
  value: unknown,
  { token, signal, headers = {} }: { token?: string | undefined; signal: AbortSignal; headers?: Record<string, string> },
): Promise<Posted> {
  const body = Buffer.from(JSON.stringify(value))
  // Loaded by who needs it: the door is plain, and every turn waits for the start.
  const send = url.startsWith('https:') ? (await import('node:https')).request : plainRequest
  return new Promise((resolve, reject) => {
    const sent = send(
      url,
      {
        method: 'POST',
        signal,
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response: IncomingMessage) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response as AsyncIterable<Buffer> }),
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const maxBytes = 4 * 1024 * 1024

/** The whole body as text, as far as it is bearable. */
export async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
