import { modelPrices, priceOrigin } from '../agents/shared/model-prices.ts'
import type { Config } from '../config/config.ts'
import { createPrices } from '../domain/money/prices.ts'
import type { SharedCaps } from '../engine/money/caps.ts'
import type { Money } from '../engine/money/meter.ts'

/** What the settings say of money. */
export const moneyOf = (config: Pick<Config, 'prices' | 'budget'>): Money => ({
  prices: createPrices(config.prices, modelPrices, priceOrigin),
  caps: capsOf(config),
})

/** Read at each use: they may change while everything runs. */
export const capsOf = ({ budget }: Pick<Config, 'budget'>): SharedCaps => ({
  get dayUsd() {
    return budget.day
  },
  get monthUsd() {
    return budget.month
  },
  get userDayUsd() {
    return budget.userDay
  },
  timeZone: budget.timeZone,
})
