import { type ErrorCode, PawlError } from '../domain/error.ts'
import type { ClientAnswer } from './client-answer.ts'
import type { Refusal, RefusalKind } from './model-event.ts'
import { OverCap } from './purse.ts'
import type { Wire } from './wire.ts'

/** What a thrown refusal of ours is for a client. Undefined for what nobody expected. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (thrown instanceof OverCap) return { kind: 'over_budget', message: thrown.message }
  return thrown instanceof PawlError ? { kind: kinds[thrown.code], message: thrown.message } : undefined
}

/** For what nobody expected: the log has the reason, the client gets no word of it. */
export const unexpected: Refusal = { kind: 'unavailable', message: 'Pawl could not serve this; its log says why.' }

const kinds = {
  invalid: 'invalid',
  not_found: 'not_found',
  conflict: 'forbidden',
  denied: 'forbidden',
  limited: 'rate_limited',
  unsupported: 'invalid',
  unavailable: 'unavailable',
  internal: 'unavailable',
} satisfies Record<ErrorCode, RefusalKind>

/** Says it in the client's format: as an answer of its own, or, in a stream that has begun, as its last frame. */
export function refuse(answer: ClientAnswer, wire: Wire, refusal: Refusal, now: Date): void {
  if (answer.gone.aborted || answer.hasEnded) return
  if (answer.hasBegun) {
    answer.write(wire.refusalFrame(refusal, now))
    answer.end()
    return
  }
  const { status, headers, body } = wire.refusal(refusal, now)
  answer.json(status, headers, body)
}
