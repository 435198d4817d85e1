import type { Clock } from '../../base/clock.ts'
import type { Route } from '../base/route.ts'
import type { Refusal, RefusalKind } from '../wires/model-event.ts'

/** Which accounts are at a limit, and until when, as their providers have said. */
export interface Cooldowns {
  note(route: Route, refusal: Refusal): void
  /** The same routes, those at a limit last. */
  ordered(routes: readonly Route[]): readonly Route[]
}

export function createCooldowns(clock: Clock): Cooldowns {
  const until = new Map<string, number>()
  const isCooling = (route: Route) => {
    const time = until.get(keyOf(route))
    if (time === undefined) return false
    if (time > clock.now()) return true
    until.delete(keyOf(route))
    return false
  }
  return {
    note(route, { kind, retryAt }) {
      if (isLimit(kind) && retryAt) until.set(keyOf(route), retryAt.getTime())
    },
    ordered(routes) {
      if (routes.length < 2 || until.size === 0) return routes
      const cooling = routes.filter(isCooling)
      return cooling.length === 0 ? routes : [...routes.filter((route) => !cooling.includes(route)), ...cooling]
    },
  }
}

/** Limits are often counted by model. */
const keyOf = ({ provider, target }: Route) => `${provider.account}\n${target}`

const isLimit = (kind: RefusalKind) => kind === 'rate_limited' || kind === 'usage_limit' || kind === 'overloaded'

/** Another provider may well serve what this one did not. */
export const mayBeServedElsewhere = (kind: RefusalKind) => isLimit(kind) || kind === 'unavailable' || kind === 'timed_out'

/** How long to wait for the end of a limit; undefined if it is too far away, or not known. */
export function holdMs({ kind, retryAt }: Refusal, now: number, maxMs: number): number | undefined {
  if (!mayBeServedElsewhere(kind) || !retryAt) return undefined
  const ms = retryAt.getTime() - now
  return ms <= maxMs ? Math.max(0, ms) : undefined
}
