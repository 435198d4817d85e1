/** The closed list of ways in which Pawl itself refuses. Each surface maps every one of them. */
export const errorCodes = [
  'invalid',
  'not_found',
  'conflict',
  'denied',
  'limited',
  'unsupported',
  'unavailable',
  'internal',
] as const
export type ErrorCode = (typeof errorCodes)[number]

/** A refusal for the person who must act: the message says what, which one, and what to do. */
export class PawlError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | undefined

  constructor(code: ErrorCode, message: string, options: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'PawlError'
    this.code = code
    this.details = options.details
  }
}

export const invalid = (message: string, details?: Record<string, unknown>) =>
  new PawlError('invalid', message, details ? { details } : {})
export const notFound = (message: string) => new PawlError('not_found', message)
export const conflict = (message: string, details?: Record<string, unknown>) =>
  new PawlError('conflict', message, details ? { details } : {})
/** Too much or too often: the same would be taken later. */
export const limited = (message: string, retryAfterSeconds: number) =>
  new PawlError('limited', message, { details: { retryAfterSeconds } })
export const unsupported = (message: string) => new PawlError('unsupported', message)
export const denied = (message: string) => new PawlError('denied', message)
export const unavailable = (message: string, cause?: unknown) => new PawlError('unavailable', message, { cause })

/** The sentence of any thrown thing, for a message or a log line. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(messageOf).join('; ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Where it was thrown, for a log line. */
export const stackOf = (thrown: unknown): string => (thrown instanceof Error && thrown.stack) || messageOf(thrown)
