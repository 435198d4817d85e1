import type { Usage } from '../domain/usage.ts'
import type { Ended } from './retry.ts'

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
  if (costUsd !== undefined && !(costUsd >= 0 && costUsd < maxCostUsd)) {
    left.push(`The agent reports a cost of ${costUsd} USD.`)
    sound.costUsd = undefined
  }
  if (usage !== undefined) {
    const wrong = Object.entries(usage).filter(([, count]) => !(Number.isSafeInteger(count) && count >= 0))
    for (const [name, count] of wrong) left.push(`The agent reports ${count} for ${name}.`)
    if (wrong.length > 0) sound.usage = { ...usage, ...(Object.fromEntries(wrong.map(([name]) => [name, 0])) as Partial<Usage>) }
  }
  if (retryAt !== undefined && !(Math.abs(retryAt.getTime()) < farthestMs)) {
    left.push('The agent names a time to try again that no calendar has.')
    sound.retryAt = undefined
  }
  return { end: sound, left }
}

const farthestMs = Date.UTC(9999, 0)
