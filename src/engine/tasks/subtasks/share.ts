import { denied } from '../../../domain/error.ts'

/** What a task may pass on of one of its caps, and what it has. */
export interface Purse {
  readonly cap: number
  /** The part of it that subtasks may use together. */
  readonly share: number
  readonly spent: number
  /** The caps of the subtasks that there are, together. */
  readonly given: number
}

/** A subtask for which nobody named a cap gets this part of what is left, so that there is always something left for the next one. */
const usualPart = 1 / 5
/** Nothing can be done for less. */
export const leastUsd = 0.01
export const leastTokens = 1_000

/** What one more subtask may cost. Refuses in words for the agent if nothing is left, or less than it asked for. */
export function usdFor(purse: Purse, asked: number | undefined): number {
  const left = cents(leftOf(purse))
  const pool = money(purse.share * purse.cap)
  if (left < leastUsd)
    throw denied(
      `The subtasks of this task may use ${pool} together, and nothing is left of it; do the rest of the work yourself.`,
    )
  if (asked === undefined) return Math.max(leastUsd, cents(left * usualPart))
  if (asked > left)
    throw denied(
      `A subtask for ${money(asked)} is too much: the subtasks of this task may use ${pool} together, and ${money(left)} is left. Ask for less, or do this part yourself.`,
    )
  return asked
}

export function tokensFor(purse: Purse): number {
  const left = Math.floor(leftOf(purse))
  if (left < leastTokens)
    throw denied(
      'The subtasks of this task have been given all the tokens that they may use together; do the rest of the work yourself.',
    )
  return Math.max(leastTokens, Math.floor(left * usualPart))
}

const leftOf = ({ cap, share, spent, given }: Purse) => Math.min(share * cap, cap - spent) - given

/** Down to a tenth of a cent: what is passed on is never more than there is. The small addition undoes what binary fractions lose. */
const cents = (usd: number) => Math.floor(usd * 1_000 + 1e-6) / 1_000
const money = (usd: number) => `$${usd.toFixed(2)}`
