import type { Log } from '../../base/log.ts'
import type { Cost, Prices } from '../../domain/money/prices.ts'
import type { CallFacts, WorstCase } from '../../gateway/money/purse.ts'
import { unitsAbove, unitsOf, usdOf } from './allowance.ts'
import { createRoutePrices } from './route-prices.ts'

/** What calls can cost, and what they came to. */
export interface CallCost {
  /** In units. */
  worst(call: WorstCase): number
  /** Of a call that was served, for which so many units were reserved. */
  of(facts: CallFacts, call: WorstCase, units: number): Cost
}

export function createCallCost(prices: Prices, log: Log): CallCost {
  const pricesOf = createRoutePrices(prices)

  /** Of an answer that broke off, what went in is known; nobody knows how much was written. */
  function mostOf({ usageSoFar, route }: CallFacts, outputTokens: number): number {
    if (!usageSoFar) return Number.POSITIVE_INFINITY
    const most = { ...usageSoFar, outputTokens: Math.max(outputTokens, usageSoFar.outputTokens) }
    return pricesOf(route).cost(most).countedUsd
  }

  return {
    worst: (call) => unitsAbove(pricesOf(call.route).worst(call).countedUsd * (call.times ?? 1)),
    of(facts, { route, outputTokens, times = 1 }, units) {
      if (!facts.usage)
        return { usd: null, countedUsd: Math.min(usdOf(units), times * mostOf(facts, outputTokens)), known: 'unknown' }
      const listed = pricesOf(route).cost(facts.usage)
      // How much dearer it really was nobody tells.
      const cost: Cost = times === 1 ? listed : { usd: null, countedUsd: listed.countedUsd * times, known: 'unknown' }
      if (unitsOf(cost.countedUsd) > units)
        log.warn('a call cost more than was reserved for it', {
          model: route.target,
          costUsd: cost.countedUsd,
          reservedUsd: usdOf(units),
          reason: 'dearer_than_reserved',
        })
      return cost
    },
  }
}
