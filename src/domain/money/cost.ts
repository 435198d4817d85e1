import type { Usage } from './usage.ts'

// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** How a cost is known, from the best to the worst: the program told it, the price table did, or some of it has no known price. */
export const costKnowledge = ['reported', 'priced', 'unknown'] as const
export type CostKnowledge = (typeof costKnowledge)[number]

/** By what costs are summed up. */
export const costGroups = ['agent', 'model', 'provider', 'task', 'tree', 'user', 'day'] as const
export type CostGroup = (typeof costGroups)[number]

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 0 }

export function addUsage(one: Usage, other: Usage): Usage {
  return mapUsage((key) => one[key] + other[key])
}

/** What the first has more than the second, of each kind; nothing where it has less. */
export function usageBeyond(one: Usage, other: Usage): Usage {
  return mapUsage((key) => Math.max(one[key] - other[key], 0))
}

/** Of each kind, what the one that has more of it has. */
export function mostUsage(one: Usage, other: Usage): Usage {
  return mapUsage((key) => Math.max(one[key], other[key]))
}

export const tokensOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage) =>
  inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
export const isNothing = (usage: Usage) => Object.values(usage).every((count) => count === 0)

function mapUsage(count: (key: keyof Usage) => number): Usage {
  return {
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    cacheReadTokens: count('cacheReadTokens'),
    cacheWriteTokens: count('cacheWriteTokens'),
    turns: count('turns'),
  }
}
