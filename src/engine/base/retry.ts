import type { NewEvent } from '../../domain/event/event.ts'
import { type Category, categories } from '../../domain/run/outcome.ts'
import { emptyReply } from '../../domain/task/reply.ts'
import { type Suspect, whyAlone } from '../../domain/task/suspect.ts'
import type { MoveName, Reason } from '../../domain/task/task.ts'
import type { RanCheck } from '../../store/checks.ts'
import type { RunEnd } from '../../store/runs.ts'
import { heldWords, isHeld } from './suspicion.ts'

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
  /** It ended well without a word and without using a tool, as far as its program tells: doing it again does nothing twice. */
  readonly didNothing?: boolean | undefined
  /** What the task's checks said of the work. Undefined if it has none, or they were not run. */
  readonly checks?: ChecksSaid | undefined
  /** What the agent did, in a few sentences. */
  readonly summary?: string | undefined
}

export interface ChecksSaid {
  readonly passed: boolean
  readonly failed: readonly FailedCheck[]
  /** Each of them, and where the work was that they looked at: kept as proof. */
  readonly ran?: readonly RanCheck[] | undefined
  readonly folder?: string | undefined
}

export interface FailedCheck {
  readonly name: string
  readonly exitCode: number | null
  /** The end of what it printed. */
  readonly output: string
}

export interface RetryPolicy {
  readonly attempts: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly backoff?: 'exponential' | 'linear' | undefined
}

/** Runs that come to the very same end so many times in a row are not tried once more: somebody should look. */
export const maxSameEnds = 3
/** So many times a task waits for its account's limit to reset, unless the settings say otherwise. */
export const defaultWindows = 20

/** A task that we cannot even start, five times in a row, is not tried a sixth time before somebody has looked. */
export const maxOwnFailures = 5

/** What is known of a task, beside the end of its run. */
export interface TaskFacts {
  readonly id: string
  /** The task wants a person to accept its work. */
  readonly review: boolean
  /** It is run once, whatever happens. */
  readonly once: boolean
  /** The run's program had started: it may have done something. */
  readonly hasStarted: boolean
  /** What it is suspected of after this run; null for most tasks. */
  readonly suspect: Suspect | null
  /** Subtasks of it that have not ended. */
  readonly openSubtasks: number
  /** Subtasks that have ended and of which no run of it has heard. */
  readonly untoldSubtasks: number
  /** How often its checks may fail and be told to the agent, and how often they have. */
  readonly checkAttempts: number
  readonly checksFailed: number
  /** How many runs in a row, this one included, came to the same end. */
  readonly sameEnds: number
  /** How often it has waited for a usage limit to reset since it last got anywhere. */
  readonly windows: number
  readonly maxWindows?: number | undefined
  /** Another agent has taken it over, because the account of the one before is at its limit. */
  readonly failover?: { readonly from: string; readonly to: string } | undefined
}

export function settle(input: {
  end: Ended
  task: TaskFacts
  /** Counted tries before this run. */
  attempts: number
  /** How many runs before this one were interrupted by a failure of ours, in a row. Those that were lost say nothing about it. */
  ownFailures: number
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
    case 'partial':
    case 'empty': {
      const detail = end.outcome === 'empty' ? emptyReply(tried) : message
      const reason = end.outcome === 'succeeded' ? null : { kind: end.outcome, detail }
      if (input.task.openSubtasks > 0)
        return {
          move: 'block',
          reason: { kind: 'subtasks', detail: `${input.task.openSubtasks} of its subtasks are open` },
          event: { type: 'task.blocked', data: { kind: 'subtasks' } },
          attempts: tried,
        }
      if (input.task.untoldSubtasks > 0)
        return { move: 'give_back', reason: null, event: { type: 'task.requeued', data: { why: 'subtasks' } }, attempts: 0 }
      const next = isToRepeat(end, input) ? again(input, 'empty_answer', message, tried) : undefined
      if (next) return next
      const short = end.outcome === 'succeeded' ? {} : { outcome: end.outcome }
      if (input.task.review)
        return { move: 'hold_for_review', reason, event: { type: 'task.review', data: short }, attempts: tried }
      const verified = end.checks?.passed === true
      return { move: 'complete', reason, event: { type: 'task.completed', data: { verified, ...short } }, attempts: tried }
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
    case 'timed_out': {
      // A stall may pass in the next run of the same conversation; the total time would only be used up once more.
      const next = input.task.once ? undefined : again(input, kind, message, tried)
      return (
        next ?? {
          move: 'time_out',
          reason: { kind, detail: message },
          event: { type: 'task.timed_out', data: { category: kind, message } },
          attempts: tried,
        }
      )
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
      if (input.task.once && input.task.hasStarted)
        return held('interrupted', onlyOnce(end.category ? message : 'Pawl was stopped while it ran this task.'), input)
      if (end.category && input.ownFailures + 1 >= maxOwnFailures)
        return held('interrupted', `The run could not be started ${maxOwnFailures} times in a row: ${message}`, input)
      return { move: 'give_back', reason: null, event: { type: 'task.requeued', data: { why: 'interrupted' } }, attempts }
    case 'lost':
      if (isHeld(input.task.suspect)) return held('worker_lost', heldWords(input.task.suspect), input)
      if (input.task.once && input.task.hasStarted)
        return held('interrupted', onlyOnce('The worker was lost while it ran this task.'), input)
      return { move: 'give_back', reason: null, event: lostEvent(input.task), attempts }
    case 'failed': {
      if (input.task.once) return fail(kind, message)
      if (isWornOut(input.task)) return fail(kind, wornOut(input.task.windows - 1, message))
      const next = again(input, kind, message, tried)
      if (!next) return fail(kind, message)
      // Another try would be allowed, but it would be the same once more.
      return input.task.sameEnds >= maxSameEnds ? stuck(input.task.sameEnds, message, tried) : next
    }
  }
}

/** An empty answer is asked for once more if nothing was done; one that tools stand behind is delivered as it is. */
export const isToRepeat = (
  { didNothing, outcome }: Pick<Ended, 'didNothing' | 'outcome'>,
  { task, attempts, policy }: { task: Pick<TaskFacts, 'once'>; attempts: number; policy: RetryPolicy },
): boolean => outcome === 'empty' && didNothing === true && !task.once && attempts + 1 < Math.min(2, policy.attempts)

const isWornOut = ({ failover, windows, maxWindows = defaultWindows }: TaskFacts) => !failover && windows > maxWindows
const wornOut = (times: number, message: string) =>
  `It has waited ${times} times in a row for the limit of its account to end, as often as limits.usageWindows allows: ${message}`

const onlyOnce = (message: string) => `${message} The task is to be run once only, so it is not begun again.`

/** Cut short by us and not by itself: no failure of the task, so a person decides. */
const held = (
  kind: 'worker_lost' | 'interrupted',
  what: string,
  { task, attempts }: { task: TaskFacts; attempts: number },
): Settlement => ({
  move: 'block',
  reason: { kind, detail: `${what} ${whatToDo(task.id)}` },
  event: { type: 'task.blocked', data: { kind } },
  attempts,
})
const whatToDo = (task: string) =>
  `"pawl logs ${task}" shows what it did; "pawl retry ${task}" runs it again, "pawl cancel ${task}" ends it.`

const lostEvent = ({ hasStarted, suspect }: TaskFacts): NewEvent => ({
  type: 'task.requeued',
  data: { why: 'lost', ...(hasStarted && suspect ? { detail: whyAlone(suspect) } : {}) },
})

const stuck = (times: number, message: string, attempts: number): Settlement => ({
  move: 'block',
  reason: { kind: 'no_progress', detail: `${times} runs in a row came to the same end: ${message}` },
  event: { type: 'task.blocked', data: { kind: 'no_progress' } },
  attempts,
})

function again(input: Parameters<typeof settle>[0], category: Category, message: string, tried: number): Settlement | undefined {
  const rule = categories[category]
  const { policy, nowMs } = input
  if (rule.retry === 'never') return undefined
  if (input.task.failover) {
    return {
      move: 'give_back',
      reason: null,
      event: failoverEvent(input.task.failover),
      attempts: input.attempts,
    }
  }
  if (rule.retry === 'checks')
    return input.task.checksFailed <= input.task.checkAttempts
      ? {
          move: 'give_back',
          reason: null,
          event: { type: 'task.requeued', data: { why: 'checks', detail: message } },
          attempts: 0,
        }
      : undefined
  if (tried >= (rule.retry === 'once' ? Math.min(2, policy.attempts) : policy.attempts) && rule.retry !== 'park') return undefined
  // What was killed once may have been a chance; what crashes again and again is given time.
  if (rule.retry === 'once' || (rule.retry === 'crash' && tried === 1)) {
    return {
      move: 'give_back',
      reason: null,
      event: { type: 'task.requeued', data: { why: 'retry', detail: message } },
      attempts: tried,
    }
  }
  const named = input.end.retryAt
  if (rule.retry === 'park' && named) {
    if (isAhead(named, nowMs))
      return parked(
        'usage_limit',
        new Date(Math.max(named.getTime(), nowMs + leastMs(named, nowMs, policy))),
        message,
        input.attempts,
      )
    const waitMs = pastLimitMs(policy, input.task.windows)
    return parked('backoff', new Date(nowMs + waitMs), message, input.attempts)
  }
  if (tried >= policy.attempts) return undefined
  const delayMs = backoffMs(policy, tried, input.chance)
  return parked('backoff', named && named.getTime() > nowMs + delayMs ? named : new Date(nowMs + delayMs), message, tried)
}

export const failoverEvent = ({ from, to }: { readonly from: string; readonly to: string }): NewEvent => ({
  type: 'task.requeued',
  data: { why: 'failover', detail: `${from} is at its limit; ${to} goes on.` },
})

const parked = (kind: string, until: Date, detail: string, attempts: number): Settlement => ({
  move: 'park',
  reason: { kind, detail },
  event: { type: 'task.parked', data: { kind, until: until.toISOString(), detail } },
  resumeAt: until,
  attempts,
})

/** A limit may end in the moment before we get to wait for it. */
const justPassedMs = 60_000
export const isAhead = (reset: Date, nowMs: number) => reset.getTime() > nowMs - justPassedMs
const leastMs = (reset: Date, nowMs: number, policy: RetryPolicy) => (reset.getTime() > nowMs ? 0 : policy.baseDelayMs)

const longestPastMs = 3_600_000
/** A limit that should have ended long ago, by a clock that may be wrong: it is looked at again after a while, and after a longer one each time. */
export const pastLimitMs = (policy: RetryPolicy, times: number) =>
  Math.min(Math.max(policy.baseDelayMs, 1_000) * 2 ** Math.min(times - 1, 30), longestPastMs)

/** Doubles with every try, or grows by the same;  up to a quarter is added by chance so that many tasks do not come back in the same moment. */
export function backoffMs(policy: RetryPolicy, tried: number, chance: number): number {
  const factor = policy.backoff === 'linear' ? tried : 2 ** (tried - 1)
  const plain = Math.min(policy.baseDelayMs * factor, policy.maxDelayMs)
  return Math.round(plain * (1 + chance / 4))
}
