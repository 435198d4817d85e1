import type { Cost, Prices } from '../../domain/money/prices.ts'
import type { Route } from '../../gateway/base/route.ts'

/** What calls of one route cost, and can cost. */
export interface RoutePrices {
  cost(usage: Parameters<Prices['cost']>[1]): Cost
  worst(tokens: Parameters<Prices['worst']>[1]): Cost
}

/** By the provider's name for the model, or by the one that clients use. A server of one's own asks nothing, unless a price is named for its model. */
export const createRoutePrices =
  (prices: Prices) =>
  ({ target, model, provider }: Route): RoutePrices => {
    const name = [target, model].find((candidate) => prices.of(candidate) !== undefined)
    if (name === undefined && provider.isFree) return free
    return { cost: (usage) => prices.cost(name ?? target, usage), worst: (tokens) => prices.worst(name ?? target, tokens) }
  }

const nothing: Cost = { usd: 0, countedUsd: 0, known: 'priced' }
const free: RoutePrices = { cost: () => nothing, worst: () => nothing }
