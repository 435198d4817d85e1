import { problemError } from './problem.ts'
import type { Transport, WireAnswer, WireRequest } from './transport.ts'

export interface ClientOptions {
  readonly signal?: AbortSignal | undefined
  /** At most 32 lower-case letters, digits and dashes; the daemon ignores any other. */
  readonly name?: string | undefined
}

/** What every call is made of: a request and its answer as JSON, or the daemon's refusal thrown. */
export interface Wire {
  readonly transport: Transport
  readonly signal: AbortSignal | undefined
  /** Headers that say who asks. */
  readonly asker: Record<string, string>
  call<T>(method: WireRequest['method'], path: string, extra?: Extra): Promise<{ status: number; value: T }>
  get<T>(path: string, asked?: Query): Promise<T>
  /** What is not `repeatable` is not sent again when the connection breaks. */
  post<T>(path: string, body: unknown, repeatable?: boolean): Promise<T>
  text(path: string): Promise<string>
  /** Aborts with the client, or with what one call was given. */
  either(other: AbortSignal | undefined): AbortSignal | undefined
}

export const api = '/api/v1'
export const taskPath = (id: string) => `${api}/tasks/${encodeURIComponent(id)}`

export function createWire(transport: Transport, { signal, name }: ClientOptions): Wire {
  const asker: Record<string, string> = name === undefined ? {} : { 'X-Pawl-Client': name }

  async function ask(method: WireRequest['method'], path: string, extra: Extra): Promise<WireAnswer> {
    const answer = await transport.send({
      method,
      path: `${path}${query(extra.query)}`,
      headers: { Accept: 'application/json', ...asker, ...extra.headers },
      body: extra.body === undefined ? undefined : JSON.stringify(extra.body),
      signal,
      repeatable: extra.repeatable ?? true,
    })
    if (answer.status < 200 || answer.status > 299) throw problemError(answer.status, answer.body)
    return answer
  }
  async function call<T>(method: WireRequest['method'], path: string, extra: Extra = {}): Promise<{ status: number; value: T }> {
    const answer = await ask(method, path, extra)
    // What a daemon of the same protocol says is trusted, so that no schema has to be loaded here.
    return { status: answer.status, value: (answer.body === '' ? undefined : JSON.parse(answer.body)) as T }
  }
  return {
    transport,
    signal,
    asker,
    call,
    get: async <T>(path: string, asked?: Query) => (await call<T>('GET', path, { query: asked })).value,
    post: async <T>(path: string, body: unknown, repeatable = true) => (await call<T>('POST', path, { body, repeatable })).value,
    text: async (path) => (await ask('GET', path, { headers: { Accept: '*/*' } })).body,
    either: (other) => (signal && other ? AbortSignal.any([signal, other]) : (signal ?? other)),
  }
}

type Query = Readonly<Record<string, string | number | undefined>>

interface Extra {
  readonly query?: Query | undefined
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly repeatable?: boolean
}

export function query(asked: Query = {}): string {
  const given = new URLSearchParams()
  for (const [key, value] of Object.entries(asked)) if (value !== undefined) given.set(key, String(value))
  return given.size === 0 ? '' : `?${given}`
}

/** Unique is enough, it need not be secret: what makes secrets takes longer to load than the rest of this client. */
export const uniqueKey = () => `${Date.now().toString(36)}-${[1, 2, 3].map(() => Math.random().toString(36).slice(2)).join('')}`
