import type { EventData } from '../../domain/event/event.ts'
import type { Cost } from '../../domain/money/prices.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { CallFacts } from '../../gateway/money/purse.ts'
import type { ModelUsage } from '../../gateway/wires/model-event.ts'
import type { Booking } from '../../store/ledger.ts'
import type { Holder } from '../../store/reservations.ts'
import { isSoundCount } from './sound-figures.ts'

/** What a call counts for, as one turn. Of one that broke off it is what was told until then, of one whose provider told nothing, nothing. */
export function usageOf({ usage, usageSoFar }: CallFacts): Usage {
  const told = usage ?? usageSoFar
  return {
    inputTokens: told?.inputTokens ?? 0,
    outputTokens: told?.outputTokens ?? 0,
    cacheReadTokens: told?.cacheReadTokens ?? 0,
    cacheWriteTokens: told?.cacheWriteTokens ?? 0,
    turns: 1,
  }
}

/** A figure that cannot be is worth no more than none: the call counts as one whose provider told nothing. */
export function withSoundUsage(call: CallFacts): CallFacts {
  if ((!call.usage || isSound(call.usage)) && (!call.usageSoFar || isSound(call.usageSoFar))) return call
  const { usage, usageSoFar, ...rest } = call
  return { ...rest, ...(isSound(usage) ? { usage } : {}), ...(isSound(usageSoFar) ? { usageSoFar } : {}) }
}
const mostTokens = 1e9
function isSound(usage: ModelUsage | undefined): usage is ModelUsage {
  if (!usage) return false
  const { pieces } = usage
  return (
    isPossible(usage.inputTokens) &&
    isPossible(usage.outputTokens) &&
    isPossible(usage.cacheReadTokens) &&
    isPossible(usage.cacheWriteTokens) &&
    isPossible(usage.reasoningTokens) &&
    isPossible(usage.cacheWriteHourTokens) &&
    (!pieces || Object.values(pieces).every(isPossible))
  )
}
const isPossible = (count: number | undefined) => count === undefined || (isSoundCount(count) && count <= mostTokens)

/** The event that tells of a call. One that was not served has no cost. */
export function calledData(call: CallFacts, cost: Cost | undefined): EventData<'model.called'> {
  const { refusal, route } = call
  const usage = call.usage ?? call.usageSoFar
  return {
    number: call.number,
    model: call.asked,
    provider: route.provider.name,
    target: route.target,
    ...(call.status === undefined ? {} : { status: call.status }),
    ...(usage ? { usage: usageOf(call) } : {}),
    ...(usage && usage.reasoningTokens > 0 ? { reasoningTokens: usage.reasoningTokens } : {}),
    ...(usage?.pieces && Object.keys(usage.pieces).length > 0 ? { pieces: usage.pieces } : {}),
    ...(cost && cost.usd !== null ? { costUsd: cost.usd } : {}),
    ...(cost ? { countedUsd: cost.countedUsd, known: cost.known } : {}),
    ...(call.firstMs === undefined ? {} : { firstMs: Math.round(call.firstMs) }),
    durationMs: Math.round(call.durationMs),
    ...(call.translated ? { translated: true } : {}),
    ...(call.abandoned ? { abandoned: true } : {}),
    ...(refusal
      ? {
          refusal: {
            kind: refusal.kind,
            message: refusal.message,
            ...(refusal.retryAt ? { retryAt: refusal.retryAt.toISOString() } : {}),
          },
        }
      : {}),
  }
}

/** Its line of the ledger, under the name by which the provider counts it. */
export const bookingOf = (holder: Holder, call: CallFacts, cost: Cost): Booking => ({
  ...usageOf(call),
  rootId: holder.rootId,
  agent: holder.agent,
  account: holder.account,
  user: holder.user,
  model: call.route.target,
  provider: call.route.provider.name,
  costUsd: cost.usd,
  countedUsd: cost.countedUsd,
  known: cost.known,
})
