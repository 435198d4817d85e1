import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** One request as the server saw it. Secrets are kept as fingerprints: a test can tell which one came, nobody can use it. */
export interface RecordedRequest {
  readonly number: number
  readonly at: string
  readonly method: string
  readonly path: string
  readonly scenario: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** The wire format, when the model was asked. */
  wire?: string
  /** What was done with it: the step (`steps[0]`), `aside`, `title`, or why nothing was. */
  answer?: string
  /** The client gave up, or was cut off, before the answer was complete. */
  isUnfinished?: boolean
}

const secretHeaders = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie'])

export const fingerprint = (secret: string) => `sha256:${createHash('sha256').update(secret).digest('hex').slice(0, 12)}`

export function withoutSecrets(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const text = Array.isArray(value) ? value.join(', ') : (value ?? '')
      return [name, secretHeaders.has(name) ? fingerprint(text) : text]
    }),
  )
}

/** Gemini clients may put the key into the address. */
export function pathWithoutSecrets(url: URL): string {
  const query = new URLSearchParams(url.search)
  const key = query.get('key')
  if (key !== null) query.set('key', fingerprint(key))
  return query.size === 0 ? url.pathname : `${url.pathname}?${query}`
}

/** The last requests, and whoever waits for one. */
export class RequestLog {
  readonly requests: RecordedRequest[] = []
  readonly #maxRequests: number
  readonly #waiting = new Set<() => void>()
  #count = 0

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests
  }

  add(request: Omit<RecordedRequest, 'number' | 'at'>): RecordedRequest {
    this.#count += 1
    const recorded = { number: this.#count, at: new Date().toISOString(), ...request }
    this.requests.push(recorded)
    if (this.requests.length > this.#maxRequests) this.requests.shift()
    return recorded
  }

  complete(recorded: RecordedRequest, facts: Partial<RecordedRequest>): void {
    Object.assign(recorded, facts)
    for (const check of this.#waiting) check()
  }

  waitFor(matches: (request: RecordedRequest) => boolean, timeoutMs: number): Promise<RecordedRequest> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer)
        this.#waiting.delete(check)
      }
      const check = () => {
        const found = this.requests.find(matches)
        if (!found) return
        settle()
        resolve(found)
      }
      const timer = setTimeout(() => {
        settle()
        const seen = this.requests.map((it) => `${it.method} ${it.path} → ${it.answer ?? 'no answer yet'}`).join('\n')
        reject(new Error(`No request matched within ${timeoutMs} ms; seen so far:\n${seen || '(none)'}`))
      }, timeoutMs)
      this.#waiting.add(check)
      check()
    })
  }
}
