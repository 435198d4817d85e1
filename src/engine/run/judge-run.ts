import type { Log } from '../../base/log.ts'
import { messageOf, stackOf } from '../../domain/error.ts'
import { unknownChanges } from '../../store/changes.ts'
import { isPassing } from '../../store/database.ts'
import { RunFailure } from '../base/failure.ts'
import type { Ended } from '../base/retry.ts'
import type { StopReason, Watch } from '../base/watch.ts'
import type { Examined } from '../checks/examine.ts'

/** Hard facts first: who stopped it and why outranks what the agent says of itself. */
export function judge({ verdict, exit, summary, checks, fingerprint, didNothing }: Examined, watch: Watch): Ended {
  const { text, usage, costUsd } = verdict
  const facts = { text, usage, costUsd, summary, exitCode: exit?.code, signal: exit?.signal }
  return watch.reason
    ? { ...facts, ...stopped(watch.reason) }
    : {
        ...facts,
        checks,
        fingerprint,
        didNothing,
        outcome: verdict.outcome,
        category: verdict.category,
        message: verdict.message,
        retryAt: verdict.retryAt,
      }
}

export function judgeFailure(error: unknown, watch: Watch, log: Log): Ended {
  if (watch.reason) return { text: '', ...stopped(watch.reason) }
  if (error instanceof RunFailure) return { outcome: 'failed', category: error.category, message: error.message, text: '' }
  // Only what comes before the agent's start waits for the database, so everything can be begun again.
  if (isPassing(error))
    return {
      outcome: 'interrupted',
      category: 'internal',
      message: 'The database went away before the agent was started.',
      text: '',
    }
  log.error('a run failed inside Pawl', { error: messageOf(error), stack: stackOf(error) })
  return {
    outcome: 'failed',
    category: 'internal',
    message: 'Pawl made a mistake while it ran this; its log has the details.',
    text: '',
  }
}

function stopped(reason: StopReason): Pick<Ended, 'outcome' | 'category' | 'message'> {
  switch (reason.kind) {
    case 'cancelled':
      return { outcome: 'cancelled' }
    case 'interrupted':
      return { outcome: 'interrupted' }
    case 'lease_lost':
      return { outcome: 'lost' }
    case 'timed_out':
      return { outcome: 'timed_out', category: reason.category, message: reason.message }
    case 'asked':
      return { outcome: 'blocked' }
    case 'limit':
      return { outcome: 'failed', category: reason.category, message: reason.message }
    case 'denied':
      return { outcome: 'denied', category: 'permission_denied', message: reason.message }
    case 'tripped':
      return { outcome: 'tripped', category: 'guardrail_tripped', message: reason.message }
    case 'over_budget':
      return { outcome: 'over_budget', category: 'budget_exceeded', message: reason.message }
  }
}

/** Nothing in it comes from the agent. */
export const unstorable: Ended = {
  outcome: 'failed',
  category: 'internal',
  message: 'Pawl could not store how this run ended; its log has the details.',
  text: '',
  changes: { ...unknownChanges, why: 'What this run changed is not known: Pawl could not store how it ended.' },
}
