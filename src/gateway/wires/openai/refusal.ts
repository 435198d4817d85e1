import { fieldsOf } from '../../../domain/base/object.ts'
import { numberOf, parsedObject, present, textOf } from '../fields.ts'
import { epochTime, headerTime, later, retryAfter, saidTime, secondsFromNow, secondsUntil } from '../limit-times.ts'
import type { Refusal, RefusalAnswer, RefusalKind } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { kindOfStatus, plainMessage, saysNoCredit, saysOverflow } from '../refusals.ts'
import type { RefusedAnswer } from '../wire.ts'

/** A refusal of OpenAI, or of one of the many who speak as it does, understood. */
export function refused({ status, headers, text }: RefusedAnswer, now: Date): Refusal {
  const body = parsedObject(text)
  const error = fieldsOf(body?.error)
  const message =
    textOf(error.message) ?? textOf(body?.error) ?? textOf(body?.message) ?? textOf(body?.detail) ?? plainMessage(text, status)
  return judged(error, message, { status, headers, now })
}

interface Circumstances {
  readonly status?: number
  readonly headers?: RefusedAnswer['headers']
  readonly now?: Date
}

/** An error object, wherever it came: as an answer, or in the middle of a stream. */
export function judged(error: JsonObject, message: string, { status, headers = {}, now }: Circumstances): Refusal {
  const kind = kindOf(error, message, status)
  if (!now || (kind !== 'rate_limited' && kind !== 'usage_limit' && kind !== 'overloaded' && kind !== 'unavailable'))
    return { kind, message }
  const retryAt =
    epochTime(error.resets_at, now) ??
    secondsFromNow(error.resets_in_seconds, now) ??
    (kind === 'usage_limit' ? planEnd(headers, now) : undefined) ??
    retryAfter(headers, now) ??
    bucketEnd(headers, now) ??
    saidTime(message, now)
  return present({ kind, message, retryAt })
}

type Headers = RefusedAnswer['headers']

/** The end of a plan's window that is used up. */
function planEnd(headers: Headers, now: Date): Date | undefined {
  let end: Date | undefined
  for (const name of ['primary', 'secondary']) {
    if (Number(headers[`x-codex-${name}-used-percent`] ?? 0) < 100) continue
    end = later(end, headerTime(headers[`x-codex-${name}-reset-at`] ?? headers[`x-codex-${name}-reset-after-seconds`], now))
  }
  return end
}

/** The end of that minute of which nothing is left: `x-ratelimit-reset-requests: 6m0s`. */
function bucketEnd(headers: Headers, now: Date): Date | undefined {
  let end: Date | undefined
  for (const name of ['requests', 'tokens']) {
    const left = headers[`x-ratelimit-remaining-${name}`]
    if (left === undefined || Number(left) > 0) continue
    end = later(end, headerTime(headers[`x-ratelimit-reset-${name}`], now))
  }
  return end
}

const kinds: Readonly<Record<string, RefusalKind>> = {
  usage_limit_reached: 'usage_limit',
  usage_not_included: 'usage_limit',
  insufficient_quota: 'usage_limit',
  billing_hard_limit_reached: 'usage_limit',
  rate_limit_exceeded: 'rate_limited',
  rate_limit_error: 'rate_limited',
  context_length_exceeded: 'context_overflow',
  model_not_found: 'not_found',
  invalid_api_key: 'unauthorized',
  authentication_error: 'unauthorized',
  permission_error: 'forbidden',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
  overloaded_error: 'overloaded',
  server_error: 'unavailable',
  timeout: 'timed_out',
}

function kindOf(error: JsonObject, message: string, status: number | undefined): RefusalKind {
  for (const word of [textOf(error.code), textOf(error.type)])
    if (word !== undefined && Object.hasOwn(kinds, word)) return kinds[word]!
  if (saysNoCredit(message)) return 'usage_limit'
  if (saysOverflow(message) && (status === undefined || status === 400 || status === 413 || status === 422))
    return 'context_overflow'
  // Some who pass on the answers of others tell their status in the code.
  const told = status ?? numberOf(error.code)
  if (told !== undefined && told >= 400) return kindOfStatus(told)
  return error.type === 'invalid_request_error' ? 'invalid' : 'unavailable'
}

/** How clients of these formats are refused. Codex tries again by status, and knows a used-up plan by the type. */
const answers = {
  invalid: [400, 'invalid_request_error', null],
  unauthorized: [401, 'invalid_request_error', 'invalid_api_key'],
  forbidden: [403, 'invalid_request_error', 'forbidden'],
  not_found: [404, 'invalid_request_error', 'model_not_found'],
  too_large: [413, 'invalid_request_error', 'request_too_large'],
  context_overflow: [400, 'invalid_request_error', 'context_length_exceeded'],
  rate_limited: [429, 'requests', 'rate_limit_exceeded'],
  usage_limit: [429, 'usage_limit_reached', 'usage_limit_reached'],
  // A status that is not tried again.
  over_budget: [400, 'insufficient_quota', 'insufficient_quota'],
  overloaded: [503, 'server_error', 'server_is_overloaded'],
  unavailable: [502, 'server_error', null],
  timed_out: [504, 'server_error', 'timeout'],
} as const satisfies Record<RefusalKind, readonly [number, string, string | null]>

export function refusal(told: Refusal, now: Date): RefusalAnswer {
  return { status: answers[told.kind][0], headers: limitHeaders(told, now), body: { error: errorBody(told, now) } }
}

export function errorBody({ kind, message, retryAt }: Refusal, now?: Date): JsonObject {
  const [, type, code] = answers[kind]
  const error = { message, type, param: null, code }
  if (kind !== 'usage_limit' || !retryAt) return error
  const resets = { resets_at: Math.ceil(retryAt.getTime() / 1000) }
  return now ? { ...error, ...resets, resets_in_seconds: secondsUntil(retryAt, now) } : { ...error, ...resets }
}

function limitHeaders({ kind, retryAt }: Refusal, now: Date): Record<string, string> {
  const stays: Record<string, string> = kind === 'over_budget' || kind === 'usage_limit' ? { 'x-should-retry': 'false' } : {}
  if (!retryAt || kind === 'over_budget') return stays
  const seconds = String(secondsUntil(retryAt, now))
  if (kind !== 'usage_limit') return { 'retry-after': seconds }
  return {
    ...stays,
    'retry-after': seconds,
    'x-codex-primary-used-percent': '100',
    'x-codex-primary-reset-after-seconds': seconds,
    'x-codex-primary-reset-at': String(Math.ceil(retryAt.getTime() / 1000)),
  }
}
