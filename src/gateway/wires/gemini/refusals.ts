import { fieldsOf } from '../../../domain/base/object.ts'
import { asText, objectsOf, parsedObject, present, textOf } from '../fields.ts'
import { retryAfter, saidTime, secondsFromNow, secondsUntil } from '../limit-times.ts'
import type { ModelEvent, Refusal, RefusalAnswer, RefusalKind } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { kindOfStatus, plainMessage, saysOverflow } from '../refusals.ts'
import type { RefusedAnswer } from '../wire.ts'

const typeUrl = 'type.googleapis.com/google.rpc.'

const words: Readonly<Record<RefusalKind, [code: number, status: string]>> = {
  invalid: [400, 'INVALID_ARGUMENT'],
  unauthorized: [401, 'UNAUTHENTICATED'],
  forbidden: [403, 'PERMISSION_DENIED'],
  not_found: [404, 'NOT_FOUND'],
  too_large: [413, 'INVALID_ARGUMENT'],
  context_overflow: [400, 'INVALID_ARGUMENT'],
  rate_limited: [429, 'RESOURCE_EXHAUSTED'],
  usage_limit: [429, 'RESOURCE_EXHAUSTED'],
  // Not 429: the program would only try again.
  over_budget: [403, 'PERMISSION_DENIED'],
  overloaded: [503, 'UNAVAILABLE'],
  unavailable: [502, 'INTERNAL'],
  timed_out: [504, 'DEADLINE_EXCEEDED'],
}

export function refusal(told: Refusal, now: Date): RefusalAnswer {
  const [status] = words[told.kind]
  const seconds = told.retryAt && secondsUntil(told.retryAt, now)
  return { status, headers: seconds === undefined ? {} : { 'retry-after': String(seconds) }, body: refusalBody(told, now) }
}

export function refusalBody({ kind, message, retryAt }: Refusal, now: Date): JsonObject {
  const [code, status] = words[kind]
  const isOverflow = kind === 'context_overflow' && !saysOverflow(message)
  const details = [
    ...(kind === 'usage_limit' ? [{ '@type': `${typeUrl}QuotaFailure`, violations: [{ quotaId: 'UsagePerDay' }] }] : []),
    ...(retryAt ? [{ '@type': `${typeUrl}RetryInfo`, retryDelay: `${secondsUntil(retryAt, now)}s` }] : []),
  ]
  const text = isOverflow ? `${message} (The input token count exceeds the maximum number of tokens allowed.)` : message
  return { error: { code, message: text, status, ...(details.length === 0 ? {} : { details }) } }
}

export function refused({ status, headers, text }: RefusedAnswer, now: Date): Refusal {
  const body = parsedObject(text) ?? firstOf(text)
  const error = fieldsOf(body.error)
  const message = textOf(error.message) ?? plainMessage(text, status)
  const kind = kindOf(status, error, message)
  const details = objectsOf(error.details)
  if (isDaily(details)) return { kind, message, retryAt: nextDay(now) }
  return present({ kind, message, retryAt: retryInfo(details, now) ?? retryAfter(headers, now) ?? saidTime(message, now) })
}

/** A refusal inside a stream has no status but its own. */
export function refusedInStream(body: JsonObject): ModelEvent {
  const error = fieldsOf(body.error)
  const status = Number(error.code) || 500
  const message = textOf(error.message) ?? plainMessage('', status)
  return { type: 'error', kind: kindOf(status, error, message), message }
}

function kindOf(status: number, error: JsonObject, message: string): RefusalKind {
  const details = objectsOf(error.details)
  if (status === 429) return isUsedUp(details, message) ? 'usage_limit' : 'rate_limited'
  if (status !== 400) return kindOfStatus(status)
  if (saysOverflow(message)) return 'context_overflow'
  const badKey = details.some(({ reason }) => reason === 'API_KEY_INVALID') || /API key (?:not valid|expired)/i.test(message)
  if (badKey) return 'unauthorized'
  return error.status === 'FAILED_PRECONDITION' ? 'forbidden' : 'invalid'
}

/** The words are the same for a used-up minute and a used-up account: only a minute comes with a short delay. */
function isUsedUp(details: readonly JsonObject[], message: string): boolean {
  if (isDaily(details)) return true
  const delay = retryInfo(details, new Date(0)) ?? saidTime(message, new Date(0))
  return delay === undefined ? /exceeded your current quota/i.test(message) : delay.getTime() > longestMinuteMs
}

const longestMinuteMs = 5 * 60_000

const ofType = (details: readonly JsonObject[], type: string) => details.filter((it) => asText(it['@type']).endsWith(type))

/** The short delay that comes with a used-up day is that of another quota. */
const isDaily = (details: readonly JsonObject[]) =>
  ofType(details, 'QuotaFailure').some(({ violations }) =>
    objectsOf(violations).some(({ quotaId }) => /PerDay/i.test(asText(quotaId))),
  )

/** Google's durations: `35s`, `1.5s`. */
function retryInfo(details: readonly JsonObject[], now: Date): Date | undefined {
  const delay = ofType(details, 'RetryInfo').map((it) => /^([\d.]+)s$/.exec(asText(it.retryDelay))?.[1])[0]
  return delay === undefined ? undefined : secondsFromNow(Number(delay), now)
}

/** Google's days begin at midnight in California. */
function nextDay(now: Date): Date {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/Los_Angeles', timeStyle: 'medium' }).format(now)
  const [hours = 0, minutes = 0, past = 0] = clock.split(':').map(Number)
  return new Date((Math.floor(now.getTime() / 1000) + 86_400 - (hours * 3600 + minutes * 60 + past)) * 1000)
}

/** A stream that is not SSE refuses inside a list. */
function firstOf(text: string): JsonObject {
  const inner = /^\s*\[([\s\S]*)\]\s*$/.exec(text)?.[1]
  const body = inner === undefined ? undefined : parsedObject(inner)
  return body ?? {}
}
