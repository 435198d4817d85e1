import { fieldsOf } from '../../domain/base/object.ts'
import { type PawlError, unavailable } from '../../domain/error.ts'
import { textOf } from './fields.ts'
import type { ModelEvent, RefusalKind } from './model-event.ts'

/** The stream ended without saying how the answer ends. */
export const brokenOff: ModelEvent = {
  type: 'error',
  kind: 'unavailable',
  message: 'The provider broke off in the middle of its answer.',
}

export const noJson: ModelEvent = { type: 'error', kind: 'unavailable', message: 'The provider sent an event that is not JSON.' }

/** For a whole answer that is none, though its status says that it is. */
export function gaveUp(error: unknown): PawlError {
  const said = textOf(fieldsOf(error).message) ?? textOf(error)
  return unavailable(said === undefined ? 'The provider gave up.' : `The provider gave up: ${said}`)
}

/** By the status alone, where nothing else says more. */
export function kindOfStatus(status: number): RefusalKind {
  if (status === 401) return 'unauthorized'
  if (status === 402) return 'usage_limit'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  if (status === 408 || status === 504) return 'timed_out'
  if (status === 413) return 'too_large'
  if (status === 429) return 'rate_limited'
  if (status === 503 || status === 529) return 'overloaded'
  return status >= 500 ? 'unavailable' : 'invalid'
}

/** How the makers say that a conversation does not fit into the model. */
export const saysOverflow = (message: string): boolean =>
  /prompt is too long|input is too long|context (length|window)|maximum context|exceeds? the (maximum|model's).{0,40}tokens|too many (input )?tokens|input length and .?max_tokens.? exceed/i.test(
    message.slice(0, 2_000),
  )

/** How they say that an account has no money left. Waiting does not help, and somebody has to act. */
export const saysNoCredit = (message: string): boolean =>
  /credit balance is too low|exceeded your current quota|insufficient (balance|quota|credits?)|billing (hard )?limit|usage limits?\b.{0,60}regain access/i.test(
    message.slice(0, 2_000),
  )

/** A sentence, even of a page of HTML or of nothing. */
export function plainMessage(text: string, status: number): string {
  const words = text.startsWith('<') || text.trim() === '' ? '' : text.trim().slice(0, 500)
  return words === '' ? `The provider answered with status ${status}.` : words
}
