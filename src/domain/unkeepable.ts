/** Nothing that anybody means is deeper, and whatever walks through it later may do so by calling itself. */
const deepest = 200

interface Place {
  readonly key: string
  readonly above: Place | undefined
}

/** What of a value that came from outside no database can keep, and where. Without calling itself: a body of a megabyte can be half a million levels deep. */
export function* unkeepable(whole: unknown): Generator<{ path: string[]; message: string }> {
  const open: { value: unknown; place?: Place | undefined; depth: number }[] = [{ value: whole, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, place, depth } = next
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed())
        yield { path: pathOf(place), message: 'text cannot hold a NUL character or half a surrogate pair' }
    } else if (typeof value === 'object' && value !== null) {
      if (depth > deepest) return yield { path: pathOf(place).slice(0, 1), message: `is nested more than ${deepest} levels deep` }
      for (const [key, inner] of Object.entries(value).toReversed()) {
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
