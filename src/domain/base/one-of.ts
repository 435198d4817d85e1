import { invalid } from '../error.ts'
import { didYouMean } from './nearest.ts'
import { visible } from './visible.ts'

/** Refuses a word that is none of those that an option knows. */
export function oneOf<const T extends string>(option: string, given: string | undefined, known: readonly T[]): T | undefined {
  const found = known.find((one) => one === given)
  if (given === undefined || found !== undefined) return found
  const shown = visible(given).replace(/\s+/g, ' ').trim()
  throw invalid(`"${shown}" is not known to ${option}${didYouMean(given, known)} There is: ${known.join(', ')}.`)
}
