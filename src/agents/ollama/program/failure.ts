/** Why a turn ended badly, in one of Pawl's own words. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly retryAfterMs: number | undefined

  constructor(code: FailureCode, message: string, retryAfterMs?: number) {
    super(message)
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

export type FailureCode =
  | 'session_missing'
  | 'bad_config'
  | 'auth_failed'
  | 'rate_limited'
  | 'usage_limit'
  | 'overloaded'
  | 'network'
  | 'context_overflow'
  | 'max_turns'
  | 'protocol_error'

/** What a server's refusal means. It has nothing but a status and words. */
export function failureOf(status: number, said: string, headers: Readonly<Record<string, unknown>> = {}): Failure {
  const message = said.trim() === '' ? `The model's server answered with ${status}.` : said.trim().slice(0, 2_000)
  const code = codeOf(status, message)
  if (code === 'bad_config' && status === 404)
    return new Failure(code, `${message} (If it is missing on the server, get it with "ollama pull NAME".)`)
  return new Failure(code, message, retryAfterMs(headers['retry-after']))
}

function codeOf(status: number, message: string): FailureCode {
  if (/context (length|size|window)/i.test(message) && (status === 400 || status === 413 || status >= 500))
    return 'context_overflow'
  if (status === 401 || status === 402 || status === 403) return 'auth_failed'
  if (status === 429) return /usage limit|weekly limit|hourly limit/i.test(message) ? 'usage_limit' : 'rate_limited'
  if (status === 503 || /server busy|maximum pending requests/i.test(message)) return 'overloaded'
  if (status === 408 || status >= 500) return 'network'
  return 'bad_config'
}

function retryAfterMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
}
