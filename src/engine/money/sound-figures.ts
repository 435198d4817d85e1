import type { Usage } from '../../domain/money/usage.ts'
import type { Ended } from '../base/retry.ts'

/** Beyond any bill, and within what a column of the store holds. */
const maxCostUsd = 1e8

/**
 * What an agent says about itself, without figures that cannot be: one of them must not keep the end of a run from being stored. Answers what was left out,
 * as a sentence each.
 */
export function soundFigures(end: Ended): { end: Ended; left: string[] } {
  const left: string[] = []
  const sound = { ...end }
  const { costUsd, usage, retryAt } = end
  if (costUsd !== undefined && !isSoundCost(costUsd)) {
    left.push(`The agent reports a cost of ${costUsd} USD.`)
    sound.costUsd = undefined
  }
  if (usage !== undefined) {
    for (const [name, count] of Object.entries(usage))
      if (!isSoundCount(count)) left.push(`The agent reports ${count} for ${name}.`)
    sound.usage = soundUsage(usage)
  }
  if (retryAt !== undefined && !(Math.abs(retryAt.getTime()) < farthestMs)) {
    left.push('The agent names a time to try again that no calendar has.')
    sound.retryAt = undefined
  }
  return { end: sound, left }
}

export const isSoundCost = (usd: number) => usd >= 0 && usd < maxCostUsd
export const isSoundCount = (count: number) => Number.isSafeInteger(count) && count >= 0

/** The same figures, with 0 for those that cannot be. */
export const soundUsage = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, isSoundCount(count) ? count : 0])) as Usage

const farthestMs = Date.UTC(9999, 0)
