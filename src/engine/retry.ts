import type { NewEvent } from '../domain/event.ts'
import { type Category, categories } from '../domain/outcome.ts'
import type { MoveName, Reason } from '../domain/task.ts'
import type { RunEnd } from '../store/runs.ts'

/** What a run's end means for its task. Pure: time and chance come in, a decision goes out. */
export interface Settlement {
  readonly move: MoveName
  readonly reason: Reason | null
  readonly event: NewEvent
  readonly resumeAt?: Date
  /** Counted tries after this run. */
  readonly attempts: number
}

export interface Ended extends RunEnd {
  /** A time the program named after which it will work again. */
  readonly retryAt?: Date | undefined
  /** Another run can go on with the conversation. */
  readonly canResume?: boolean | undefined
}

export interface RetryPolicy {
  readonly attempts: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
}

/** A task that takes its worker down with it, or that we cannot even start, five times in a row is not tried a sixth time. */
export const maxLossesInARow = 5

export function settle(input: {
  end: Ended
  /** Counted tries before this run. */
  attempts: number
  /** How many runs before this one were lost, or interrupted by a failure of ours, in a row. */
  lossesInARow: number
  policy: RetryPolicy
  nowMs: number
  /** Between 0 and 1. */
  chance: number
  questionId?: string | undefined
  cancelledBy?: string | undefined
}): Settlement {
  const { end, attempts } = input
  const tried = attempts + 1
  const message = end.message ?? (end.category ? categories[end.category].says : 'The run failed.')
  const kind = end.category ?? 'internal'
  const fail = (category: Category, text: string): Settlement => ({
    move: 'fail',
    reason: { kind: category, detail: text },
    event: { type: 'task.failed', data: { category, message: text } },
    attempts: tried,
  })

  switch (end.outcome) {
    case 'succeeded':
      return { move: 'complete', reason: null, event: { type: 'task.completed', data: { verified: false } }, attempts: tried }
    case 'partial':
    case 'empty':
      return {
        move: 'complete',
        reason: { kind: end.outcome, detail: message },
        event: { type: 'task.completed', data: { verified: false } },
        attempts: tried,
      }
    case 'cancelled':
      return {
        move: 'stop_cancelled',
        reason: { kind: 'cancelled' },
        event: { type: 'task.cancelled', data: { by: input.cancelledBy ?? 'unknown' } },
        attempts: tried,
      }
    case 'blocked':
      return {
        move: 'block',
        reason: { kind: 'question', ...(input.questionId ? { detail: input.questionId } : {}) },
        event: {
          type: 'task.blocked',
          data: { kind: 'question', ...(input.questionId ? { questionId: input.questionId } : {}) },
        },
        attempts,
      }
    case 'timed_out':
      return {
        move: 'time_out',
        reason: { kind, detail: message },
        event: { type: 'task.timed_out', data: { category: kind, message } },
        attempts: tried,
      }
    case 'over_budget':
      return {
        move: 'stop_over_budget',
        reason: { kind, detail: message },
        event: { type: 'task.over_budget', data: { message } },
        attempts: tried,
      }
    case 'denied':
      return fail('permission_denied', message)
    case 'tripped':
      return fail('guardrail_tripped', message)
    case 'interrupted':
      // With a category it was a failure of ours and not a shutdown.
      if (end.category && input.lossesInARow + 1 >= maxLossesInARow)
        return fail(end.category, `The run could not be started ${maxLossesInARow} times in a row: ${message}`)
      return { move: 'give_back', reason: null, event: { type: 'task.requeued', data: { why: 'interrupted' } }, attempts }
    case 'lost':
      if (input.lossesInARow + 1 >= maxLossesInARow)
        return fail(
          'crashed',
          `The worker was lost ${maxLossesInARow} times in a row while it ran this task; look at its log before you retry.`,
        )
      return { move: 'give_back', reason: null, event: { type: 'task.requeued', data: { why: 'lost' } }, attempts }
    case 'failed':
      return again(input, kind, message, tried) ?? fail(kind, message)
  }
}

function again(input: Parameters<typeof settle>[0], category: Category, message: string, tried: number): Settlement | undefined {
  const rule = categories[category]
  const { policy, nowMs } = input
  if (rule.retry === 'never') return undefined
  if (rule.retry === 'once' || rule.retry === 'resume') {
    const most = rule.retry === 'resume' && input.end.canResume ? policy.attempts : Math.min(2, policy.attempts)
    if (tried >= most) return undefined
    return {
      move: 'give_back',
      reason: null,
      event: { type: 'task.requeued', data: { why: 'retry', detail: message } },
      attempts: tried,
    }
  }
  const named = input.end.retryAt
  if (rule.retry === 'park' && named && named.getTime() > nowMs - justPassedMs)
    return parked('usage_limit', named.getTime() > nowMs ? named : new Date(nowMs + policy.baseDelayMs), message, input.attempts)
  if (tried >= policy.attempts) return undefined
  const delayMs = backoffMs(policy, tried, input.chance)
  return parked('backoff', named && named.getTime() > nowMs + delayMs ? named : new Date(nowMs + delayMs), message, tried)
}

const parked = (kind: string, until: Date, detail: string, attempts: number): Settlement => ({
  move: 'park',
  reason: { kind, detail },
  event: { type: 'task.parked', data: { kind, until: until.toISOString(), detail } },
  resumeAt: until,
  attempts,
})

/** A limit may end before we get to wait for it. One that ended long ago is no reason to try again for nothing, and for ever. */
const justPassedMs = 60_000

/** Doubles with every try; up to a quarter is added by chance so that many tasks do not come back in the same moment. */
export function backoffMs(policy: RetryPolicy, tried: number, chance: number): number {
  const plain = Math.min(policy.baseDelayMs * 2 ** (tried - 1), policy.maxDelayMs)
  return Math.round(plain * (1 + chance / 4))
}
