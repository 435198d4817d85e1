import type { Clock } from '../base/clock.ts'
import { invalid } from '../domain/error.ts'
import type { CostQuery, CostSum, CostView, PriceListView } from '../domain/money/cost-view.ts'
import type { Prices } from '../domain/money/prices.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { SharedCaps } from '../engine/money/caps.ts'
import { periodStarts } from '../engine/money/day.ts'
import type { Db } from '../store/database.ts'
import { type Booked, sumCosts } from '../store/ledger.ts'

export interface MoneyVerbs {
  /** What was spent in a time, in groups: today by agent, if nothing else is said. */
  listCosts(query: CostQuery): Promise<CostView>
  /** What tokens are counted for, and where that comes from. */
  listPrices(): Promise<PriceListView>
}

export interface MoneyVerbParts {
  readonly db: Db
  readonly clock: Clock
  readonly caps?: SharedCaps
  readonly prices: Prices
}

const mostGroups = 500

export function moneyVerbs({ db, clock, caps = { timeZone: 'UTC' }, prices }: MoneyVerbParts): MoneyVerbs {
  return {
    async listPrices() {
      return {
        asOf: prices.origin?.asOf ?? null,
        sources: [...(prices.origin?.sources ?? [])],
        items: prices.all.map(({ pattern, price: { pieces, long, maxOutput: _, isRare: __, ...price }, isOwn }) => ({
          model: pattern,
          ...price,
          ...(pieces ? { pieces: { ...pieces } } : {}),
          ...(long ? { long: { above: long.above, input: long.price.input, output: long.price.output } } : {}),
          from: isOwn ? 'settings' : 'list',
        })),
      }
    },
    async listCosts({ since, until, by = 'agent' }) {
      const from = since === undefined ? periodStarts(clock.now(), caps.timeZone).day : new Date(since)
      const to = until === undefined ? undefined : new Date(until)
      if (to && to <= from) throw invalid('The end of the time must come after its beginning.')
      const { timeZone } = caps
      const found = await translateDbErrors(() => sumCosts(db, { since: from, until: to, by, timeZone, limit: mostGroups }))
      return {
        since: from.toISOString(),
        until: to?.toISOString() ?? null,
        timeZone,
        by,
        total: sumOf(found.total),
        items: found.groups.map(({ key, ...group }) => ({ key, ...sumOf(group) })),
        unpriced: found.unpriced,
        caps: { dayUsd: caps.dayUsd ?? null, monthUsd: caps.monthUsd ?? null, userDayUsd: caps.userDayUsd ?? null },
      }
    },
  }
}

function sumOf({ usage, costUsd, countedUsd, known }: Booked): CostSum {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, turns } = usage
  const tokens = { input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens }
  return { usd: costUsd, countedUsd, known, tokens, turns }
}
