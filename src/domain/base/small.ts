import { isObjectOrArray } from './object.ts'
export interface Bounds {
  /** How many levels of maps and lists. */
  readonly levels: number
  /** How many values in all, at every level. */
  readonly parts: number
}

/** True if a value that came from outside stays within these bounds. Ends as soon as it does not, and never calls itself: a line of an agent can hold millions of values, or levels. */
export function isSmall(value: unknown, { levels, parts }: Bounds): boolean {
  let level = [value]
  let left = parts
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels && level.some(isObjectOrArray)) return false
    const next: unknown[] = []
    for (const item of level) {
      if (!isObjectOrArray(item)) continue
      if (Array.isArray(item)) {
        left -= item.length
        if (left < 0) return false
        for (const inner of item) if (typeof inner === 'object') next.push(inner)
      } else
        for (const key in item) {
          if (--left < 0) return false
          const inner = (item as Record<string, unknown>)[key]
          if (typeof inner === 'object') next.push(inner)
        }
    }
    level = next
  }
  return true
}

/** Nothing that anybody means has more values in it. To walk through so many takes a few milliseconds. */
export const mostParts = 20_000
