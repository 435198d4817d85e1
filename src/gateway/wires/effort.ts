import type { Thinking } from './model-request.ts'

/** How much a model is to think, as a request says it. Makers invent levels above "high"; no other format has a word for them. */
export function readEffort(effort: unknown): Thinking['effort'] {
  if (effort === 'minimal' || effort === 'low' || effort === 'medium' || effort === 'high') return effort
  return effort === 'xhigh' || effort === 'max' ? 'high' : undefined
}

/** The nearest word for a number of tokens. */
export function effortOf(thinking: Thinking): NonNullable<Thinking['effort']> {
  if (thinking.effort) return thinking.effort
  if (thinking.budgetTokens === undefined) return 'medium'
  return thinking.budgetTokens <= 2_048 ? 'low' : thinking.budgetTokens <= 12_288 ? 'medium' : 'high'
}
