import { isObjectOrArray } from './object.ts'

/** Nothing that anybody means is deeper, and whatever walks through it later may do so by calling itself. */
const deepest = 200
/** A task with a hundred thousand values is none. To look at so many takes less than 100 ms. */
const most = 100_000

interface Place {
  readonly key: string
  readonly above: Place | undefined
}

/** What of a value that came from outside no database can keep, and where. Without calling itself: a body of a megabyte can be half a million levels deep. */
export function* unkeepable(whole: unknown): Generator<{ path: string[]; message: string }> {
  let left = most
  const open: { value: unknown; place?: Place | undefined; depth: number }[] = [{ value: whole, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, place, depth } = next
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed())
        yield { path: pathOf(place), message: 'text cannot hold a NUL character or half a surrogate pair' }
    } else if (isObjectOrArray(value)) {
      if (depth > deepest) return yield { path: pathOf(place).slice(0, 1), message: `is nested more than ${deepest} levels deep` }
      const keys = Object.keys(value)
      left -= keys.length
      if (left < 0) return yield { path: pathOf(place).slice(0, 1), message: `has more than ${most} values` }
      for (const key of keys.toReversed()) {
        const inner = value[key]
        open.push({ value: inner, place: { key, above: place }, depth: depth + 1 })
        open.push({ value: key, place: { key: '(key)', above: place }, depth: depth + 1 })
      }
    }
  }
}

function pathOf(place: Place | undefined): string[] {
  const path: string[] = []
  for (let at = place; at; at = at.above) path.unshift(at.key)
  return path
}
