import { fieldsOf } from '../../../domain/base/object.ts'
import { parsedObject, present, textOf } from '../fields.ts'
import { headerTime, later, retryAfter, saidTime, secondsUntil } from '../limit-times.ts'
import type { Refusal, RefusalAnswer, RefusalKind } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { kindOfStatus, plainMessage, saysNoCredit, saysOverflow } from '../refusals.ts'
import type { RefusedAnswer } from '../wire.ts'

/** A refusal of the provider, understood. */
export function refused({ status, headers, text }: RefusedAnswer, now: Date): Refusal {
  const error = fieldsOf(parsedObject(text)?.error)
  const message = textOf(error.message) ?? plainMessage(text, status)
  const kind = kindOf(status, textOf(error.type), message)
  if (kind === 'usage_limit') return present({ kind, message, retryAt: accessTime(message) })
  if (kind !== 'rate_limited' && kind !== 'overloaded' && kind !== 'unavailable') return { kind, message }
  const window = headers['anthropic-ratelimit-unified-status'] === 'rejected' ? windowEnd(headers, now) : undefined
  if (window) return { kind: 'usage_limit', message, retryAt: later(window, retryAfter(headers, now)) }
  return present({ kind, message, retryAt: retryAfter(headers, now) ?? bucketEnd(headers, now) ?? saidTime(message, now) })
}

type Headers = RefusedAnswer['headers']

/** The end of a plan's window: told at once, or of the window that is used up. */
function windowEnd(headers: Headers, now: Date): Date | undefined {
  const told = headerTime(headers['anthropic-ratelimit-unified-reset'], now)
  if (told) return told
  for (const name of ['5h', '7d', '7d_opus', '7d_sonnet']) {
    if (headers[`anthropic-ratelimit-unified-${name}-status`] !== 'rejected') continue
    const end = headerTime(headers[`anthropic-ratelimit-unified-${name}-reset`], now)
    if (end) return end
  }
  return undefined
}

/** A limit of one's own setting ends at a time that the message tells. */
function accessTime(message: string): Date | undefined {
  const [, day, time] = /regain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC/.exec(message) ?? []
  return day === undefined ? undefined : new Date(`${day}T${time}:00Z`)
}

/** The end of that minute of which nothing is left. */
function bucketEnd(headers: Headers, now: Date): Date | undefined {
  let end: Date | undefined
  for (const name of ['requests', 'tokens', 'input-tokens', 'output-tokens']) {
    if (headers[`anthropic-ratelimit-${name}-remaining`] !== '0') continue
    end = later(end, headerTime(headers[`anthropic-ratelimit-${name}-reset`], now))
  }
  return end
}

const kinds: Readonly<Record<string, RefusalKind>> = {
  authentication_error: 'unauthorized',
  billing_error: 'usage_limit',
  permission_error: 'forbidden',
  not_found_error: 'not_found',
  request_too_large: 'too_large',
  rate_limit_error: 'rate_limited',
  timeout_error: 'timed_out',
  overloaded_error: 'overloaded',
  api_error: 'unavailable',
}

export function kindOf(status: number | undefined, type: string | undefined, message: string): RefusalKind {
  if (saysNoCredit(message)) return 'usage_limit'
  const named = type !== undefined && Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (saysOverflow(message) && (named === undefined || named === 'too_large')) return 'context_overflow'
  if (named !== undefined) return named
  return status === undefined ? (type === 'invalid_request_error' ? 'invalid' : 'unavailable') : kindOfStatus(status)
}

/** How clients of this format are refused. Claude Code goes by status and type, and by the first words of a conversation that is too long. */
const answers = {
  invalid: [400, 'invalid_request_error'],
  unauthorized: [401, 'authentication_error'],
  forbidden: [403, 'permission_error'],
  not_found: [404, 'not_found_error'],
  too_large: [413, 'request_too_large'],
  context_overflow: [400, 'invalid_request_error'],
  rate_limited: [429, 'rate_limit_error'],
  usage_limit: [429, 'rate_limit_error'],
  // A status that is not tried again.
  over_budget: [400, 'invalid_request_error'],
  overloaded: [529, 'overloaded_error'],
  unavailable: [502, 'api_error'],
  timed_out: [504, 'timeout_error'],
} as const satisfies Record<RefusalKind, readonly [number, string]>

export function refusal(told: Refusal, now: Date): RefusalAnswer {
  return { status: answers[told.kind][0], headers: limitHeaders(told, now), body: refusalBody(told) }
}

export function refusalBody({ kind, message }: Pick<Refusal, 'kind' | 'message'>): JsonObject {
  const said = kind === 'context_overflow' && !/^prompt is too long/i.test(message) ? `prompt is too long: ${message}` : message
  return { type: 'error', error: { type: answers[kind][1], message: said } }
}

/** The program knows a used-up plan from a passing throttle by these headers alone, and does not try again. */
function limitHeaders({ kind, retryAt }: Refusal, now: Date): Record<string, string> {
  if (kind === 'over_budget' || kind === 'usage_limit') {
    const stays = { 'x-should-retry': 'false' }
    if (!retryAt || kind === 'over_budget') return stays
    const reset = String(Math.ceil(retryAt.getTime() / 1000))
    return {
      ...stays,
      'retry-after': String(secondsUntil(retryAt, now)),
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': reset,
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-5h-status': 'rejected',
      'anthropic-ratelimit-unified-5h-reset': reset,
      'anthropic-ratelimit-unified-overage-status': 'rejected',
    }
  }
  return retryAt ? { 'retry-after': String(secondsUntil(retryAt, now)) } : {}
}
