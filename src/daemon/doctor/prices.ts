import { modelPrices, priceOrigin } from '../../agents/shared/model-prices.ts'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { createPrices } from '../../domain/money/prices.ts'
import type { Found } from '../../domain/view/doctor.ts'

/** Makers change their prices about once in so many months. */
const oldAfterMonths = 6

/** Is the price of each model that the settings name its own, or only that of a relative? And of when are the prices that Pawl brings? */
export function prices(config: Pick<Config, 'agents' | 'models' | 'prices'>, now = systemClock.now()): Found {
  const prices = createPrices(config.prices, modelPrices, priceOrigin)
  const named = [
    ...config.agents.flatMap(({ model }) => (model === undefined || Object.hasOwn(config.models, model) ? [] : [model])),
    ...Object.entries(config.models).map(([name, { target }]) => target ?? name),
  ]
  const guessed = [...new Set(named)].flatMap((model) => {
    const pattern = prices.guessedFrom(model)
    return pattern === undefined ? [] : [`${model} is counted by the price of "${pattern}"`]
  })
  const fix = 'name what you pay under "prices" in the settings; "pawl costs --prices" shows what counts'
  const age = ageOf(prices.origin?.asOf, now)
  if (guessed.length > 0)
    return { level: 'warn', detail: `the price of a relative counts: ${guessed.join(', ')} (${age.said})`, fix }
  return age.months > oldAfterMonths ? { level: 'note', detail: age.said, fix } : { level: 'ok', detail: age.said }
}

function ageOf(asOf: string | undefined, now: number): { months: number; said: string } {
  if (asOf === undefined) return { months: 0, said: 'those of the settings alone' }
  const [year = 0, month = 1] = asOf.split('-').map(Number)
  const today = new Date(now)
  const months = (today.getUTCFullYear() - year) * 12 + today.getUTCMonth() + 1 - month
  return { months, said: `the list of prices is of ${asOf}, ${months} ${months === 1 ? 'month' : 'months'} old` }
}
