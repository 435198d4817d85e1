import { clean } from './text.ts'

/** What it wrote where a text should be, fit to be stored. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? (value.isWellFormed() && !value.includes('\0') ? value : clean(value)) : undefined

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** More than any program can have counted in one conversation; the sum of many still is a whole number. */
const maxCount = 1e12

/** A count that somebody can have counted. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount ? value : undefined
