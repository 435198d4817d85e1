import { randomUUID } from 'node:crypto'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import type { Log } from '../../base/log.ts'
import { type ErrorCode, errorCodes, messageOf, PawlError, stackOf } from '../../domain/error.ts'

/** What every refusal looks like on the wire (RFC 9457). */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(errorCodes),
  detail: z.string().describe('A sentence for the person who must act.'),
  id: z.string().optional().describe('Names the entry of the log that holds the cause.'),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type Problem = z.infer<typeof Problem>

interface Rule {
  readonly status: ContentfulStatusCode
  readonly title: string
  readonly headers?: Record<string, string>
}

const rules = {
  invalid: { status: 400, title: 'Invalid request' },
  not_found: { status: 404, title: 'Not found' },
  conflict: { status: 409, title: 'Conflict' },
  denied: { status: 403, title: 'Denied' },
  limited: { status: 429, title: 'Too many' },
  unsupported: { status: 422, title: 'Unsupported' },
  unavailable: { status: 503, title: 'Unavailable', headers: { 'Retry-After': '1' } },
  internal: { status: 500, title: 'Internal error' },
} as const satisfies Record<ErrorCode, Rule>

/** A refusal that only HTTP knows (401, 405, 413, …), said with one of the closed codes. */
export class Refusal extends PawlError {
  readonly status: ContentfulStatusCode
  readonly headers: Record<string, string>

  constructor(status: ContentfulStatusCode, code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(code, message)
    this.status = status
    this.headers = headers
  }
}

export interface ReadProblem {
  readonly problem: Problem
  readonly headers: Record<string, string>
}

export const problemResponse = (thrown: unknown, log: Log): Response => send(readProblem(thrown, log))

/** The one way from any thrown thing to what is said of it. An unknown throw tells the caller an id only; its cause goes to the log. */
export function readProblem(thrown: unknown, log: Log): ReadProblem {
  const error = toPawlError(thrown)
  const rule: Rule = rules[error.code]
  const status = error instanceof Refusal ? error.status : rule.status
  const base = { type: `urn:pawl:problem:${error.code}`, title: rule.title, status, code: error.code }
  const headers = { ...rule.headers, ...retryAfter(error), ...(error instanceof Refusal ? error.headers : {}) }
  if (error.code !== 'internal') {
    if (error.cause !== undefined)
      log.warn('request refused', { code: error.code, detail: error.message, cause: messageOf(error.cause) })
    const { errors, ...rest } = error.details ?? {}
    const problem = {
      ...base,
      detail: error.message,
      ...(Array.isArray(errors) ? { errors } : {}),
      ...(Object.keys(rest).length > 0 ? { details: rest } : {}),
    }
    return { problem, headers }
  }
  const id = randomUUID()
  log.error('request failed', { id, cause: stackOf(error.cause ?? error) })
  return { problem: { ...base, detail: `Pawl made a mistake; its log has the details under ${id}.`, id }, headers }
}

function retryAfter({ code, details }: PawlError): Record<string, string> {
  return code === 'limited' ? { 'Retry-After': String(details?.retryAfterSeconds ?? 1) } : {}
}

function toPawlError(thrown: unknown): PawlError {
  if (thrown instanceof PawlError) return thrown
  if (thrown instanceof HTTPException) {
    if (thrown.status === 415) return notJson()
    if (thrown.status === 400) return new PawlError('invalid', 'The body is not valid JSON.')
  }
  return new PawlError('internal', 'unexpected', { cause: thrown })
}

export const notJson = () =>
  new Refusal(415, 'unsupported', 'The body must be JSON; send it with "Content-Type: application/json".')

const send = ({ problem, headers }: ReadProblem) =>
  new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'Content-Type': 'application/problem+json', ...headers },
  })
