import { type Category, categories, type Outcome } from '../../../domain/run/outcome.ts'
import { endCooldown, lockCooldown, putCooldown } from '../../../store/cooldowns.ts'
import type { Tx } from '../../../store/database.ts'
import type { CooldownRow } from '../../../store/tables.ts'
import type { LockedTask } from '../../../store/tasks.ts'
import { backoffMs, type Ended, isAhead, pastLimitMs } from '../../base/retry.ts'

/**
 * A run has met a limit of its account, or has shown that there is none any more: all tasks of the account go by it. Written with the run's end. A run that
 * neither met a limit nor was let through to look for one writes nothing, and asks nothing either.
 */
export async function noteLimit(tx: Tx, task: LockedTask, end: Ended, at: Date): Promise<void> {
  // Of a task that was made before accounts were known nobody can tell whose limit it met.
  if (task.account === '') return
  const kind = limitOf(end, at)
  if (kind) await meet(tx, task, { kind, end, at })
  else if (task.is_cooling && hasReachedTheModel(end)) await endCooldown(tx, task, at)
}

/** A usage limit whose end nobody knows, or that should have ended long ago, is no more than a request to slow down. */
function limitOf({ outcome, category, retryAt }: Ended, at: Date): CooldownRow['kind'] | undefined {
  if (outcome !== 'failed') return undefined
  if (category === 'usage_limit') return retryAt && isAhead(retryAt, at.getTime()) ? 'usage_limit' : 'rate_limited'
  return category === 'rate_limited' || category === 'overloaded' ? category : undefined
}

async function meet(
  tx: Tx,
  task: LockedTask,
  { kind, end, at }: { kind: CooldownRow['kind']; end: Ended; at: Date },
): Promise<void> {
  const { retry } = task.agent_config
  const before = await lockCooldown(tx, task)
  // Runs that were under way when the first of them met the limit say nothing new.
  const step = before === undefined ? 1 : before.step + (before.is_own ? 1 : 0)
  const leastMs = end.category === 'usage_limit' && end.retryAt ? pastLimitMs(retry, step) : backoffMs(retry, step, 0)
  const namedMs = end.retryAt?.getTime() ?? 0
  // A reset that lies ahead is believed to the second.
  const isCertain = kind === 'usage_limit' && namedMs > at.getTime()
  const until = new Date(isCertain ? namedMs : Math.max(namedMs, at.getTime() + leastMs))
  if (before && !before.is_own && before.until >= until) return
  const why = end.message ?? categories[end.category ?? kind].says
  await putCooldown(tx, { account: task.account, kind, until, step, why, agent: task.agent, at, isKnown: before !== undefined })
}

/** The provider has served it, however it ended. */
const hasReachedTheModel = ({ outcome, category, usage }: Ended) =>
  served.has(outcome) || servedCategories.has(category) || (usage?.outputTokens ?? 0) > 0
const served: ReadonlySet<Outcome> = new Set<Outcome>(['succeeded', 'partial', 'blocked', 'denied', 'tripped', 'over_budget'])
const servedCategories: ReadonlySet<Category | undefined> = new Set<Category>([
  'checks_failed',
  'invalid_output',
  'max_turns',
  'context_overflow',
  'empty_answer',
])
