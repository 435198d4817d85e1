import { didYouMean } from '../../domain/base/nearest.ts'
import { invalid } from '../../domain/error.ts'
import { type TaskState, taskStates } from '../../domain/task/task.ts'
import { oneLine } from '../text/plain.ts'

/** One of these words as it is typed, or a refusal with the nearest. */
export const oneOf =
  <T extends string>(what: string, all: string, words: readonly T[]) =>
  (written: string): T => {
    const known = words.find((candidate) => candidate === written)
    if (known !== undefined) return known
    throw invalid(`There is no ${what} "${oneLine(written, 40)}"${didYouMean(written, words)} ${all}: ${words.join(', ')}.`)
  }

/** States as they are typed, separated by commas. */
export const parseStates = (written: string): TaskState[] => written.split(',').map(oneOf('state', 'States', taskStates))
