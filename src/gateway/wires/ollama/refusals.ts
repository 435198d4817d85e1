import { fieldsOf } from '../../../domain/base/object.ts'
import { parsedObject, present, textOf } from '../fields.ts'
import { retryAfter, saidTime, secondsUntil } from '../limit-times.ts'
import type { ModelEvent, Refusal, RefusalAnswer, RefusalKind } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { kindOfStatus, plainMessage, saysOverflow } from '../refusals.ts'
import type { RefusedAnswer } from '../wire.ts'

const statuses: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  context_overflow: 400,
  rate_limited: 429,
  usage_limit: 429,
  // Not 429: the program would only try again.
  over_budget: 403,
  overloaded: 503,
  unavailable: 502,
  timed_out: 504,
}

export function refusal(told: Refusal, now: Date): RefusalAnswer {
  const { retryAt } = told
  return {
    status: statuses[told.kind],
    headers: retryAt ? { 'retry-after': String(secondsUntil(retryAt, now)) } : {},
    body: errorBody(told),
  }
}

/** Ollama has nothing but words, so those that are looked for are put in. */
export function errorBody({ kind, message }: Pick<Refusal, 'kind' | 'message'>): JsonObject {
  if (kind === 'context_overflow' && !saysOverflow(message))
    return { error: `the input length exceeds the context length: ${message}` }
  if (kind === 'usage_limit' && !saysUsedUp(message)) return { error: `you have reached your usage limit: ${message}` }
  return { error: message }
}

export function refused({ status, headers, text }: RefusedAnswer, now: Date): Refusal {
  const message = messageOf(parsedObject(text)) ?? plainMessage(text, status)
  const kind = kindOf(status, message)
  return present({ kind, message, retryAt: retryAfter(headers, now) ?? saidTime(message, now) })
}

export function refusedInStream(body: JsonObject): ModelEvent {
  const message = messageOf(body) ?? plainMessage('', 500)
  return { type: 'error', kind: kindOf(500, message), message }
}

/** Its own form is a bare text, which may be the JSON of the engine inside it; what stands before it often says it as OpenAI does. */
function messageOf(body: JsonObject | undefined): string | undefined {
  const text = textOf(body?.error)
  if (text === undefined) return textOf(fieldsOf(body?.error).message)
  return (text.startsWith('{') ? messageOf(parsedObject(text)) : undefined) ?? text
}

function kindOf(status: number, message: string): RefusalKind {
  if ((saysOverflow(message) || /available context size/.test(message)) && (status === 400 || status === 500))
    return 'context_overflow'
  if (status === 429) return saysUsedUp(message) ? 'usage_limit' : 'rate_limited'
  if (status === 500 && /server busy|maximum pending requests/i.test(message)) return 'overloaded'
  return kindOfStatus(status)
}

const saysUsedUp = (message: string) => /usage limit|weekly limit|hourly limit/i.test(message)
