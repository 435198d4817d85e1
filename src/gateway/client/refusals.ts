import { type ErrorCode, PawlError } from '../../domain/error.ts'
import { OverCap } from '../money/purse.ts'
import type { Refusal, RefusalKind } from '../wires/model-event.ts'
import type { Wire } from '../wires/wire.ts'
import type { ClientAnswer } from './answer.ts'

/** What a thrown refusal of ours is for a client. Undefined for what nobody expected. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (thrown instanceof OverCap) return { kind: 'over_budget', message: thrown.message }
  return thrown instanceof PawlError ? { kind: kinds[thrown.code], message: thrown.message } : undefined
}

/** For what nobody expected: the log has the reason, the client gets no word of it. */
export const unexpected: Refusal = { kind: 'unavailable', message: 'Pawl could not serve this; its log says why.' }

/** For a client that would go on asking for minutes, unseen: no word or number of it says that asking again could help. Why it was refused is known to the run. */
export const forGood: Refusal = {
  kind: 'forbidden',
  message: 'The model did not serve this; what happens next is for Pawl to decide.',
}

/** Would a client that tries again by itself do so? */
export const isPassing = ({ kind }: Refusal) => passing.has(kind)
const passing: ReadonlySet<RefusalKind> = new Set(['rate_limited', 'usage_limit', 'overloaded', 'unavailable', 'timed_out'])

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
