import { invalid } from '../../domain/error.ts'

export type Limit = number | 'none' | undefined

/** The value of a limit of a user as it is typed: the parser of options takes null for nothing. */
export const parseLimit =
  (option: string, least: number) =>
  (written: string): Limit => {
    if (written === 'none') return 'none'
    const count = Number(written)
    if (!/^\d{1,7}$/.test(written) || count < least)
      throw invalid(`${option} must be a whole number of at least ${least}, or "none".`)
    return count
  }

export const limitOf = (limit: Limit) => (limit === 'none' ? null : limit)
