/**
 * Finds the rule for a path by its last names. A pattern is one name or several joined by a slash; `*` stands for any part of a name. Letter case does not count,
 * nor does anything else by which a file system may take two names for one. Every pattern is tried in time linear in the name.
 */
export interface PathRules<T> {
  /** `folded` are the names of the folders above, from the top, each as `foldName` gives it. */
  match(name: string, folded: readonly string[]): T | undefined
}

/** A name as the least exact of file systems compares it: letter case, compatible characters, invisible ones, and dots and spaces at the end. */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  const plain = isAscii.test(lower)
    ? lower
    : lower
        .normalize('NFKC')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFC')
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  let end = plain.length
  while (end > 0 && (plain[end - 1] === '.' || plain[end - 1] === ' ')) end--
  return plain.slice(0, end)
}
const isAscii = /^[\x00-\x7f]*$/

interface Compiled<T> {
  readonly last: Glob
  /** The names before the last one, the nearest first. */
  readonly above: readonly Glob[]
  readonly length: number
  readonly value: T
}

export function pathRules<T>(entries: Iterable<readonly [pattern: string, value: T]>): PathRules<T> {
  const exact = new Map<string, Compiled<T>[]>()
  const byStart = new Map<string, Compiled<T>[]>()
  const byEnd = new Map<string, Compiled<T>[]>()
  const other: Compiled<T>[] = []
  for (const [pattern, value] of entries) {
    const [last = '', ...above] = pattern.toLowerCase().split('/').toReversed()
    const rule: Compiled<T> = { last: globOf(last), above: above.map(globOf), length: pattern.length, value }
    if (!last.includes('*')) put(exact, last, rule)
    else if (!last.startsWith('*')) put(byStart, last[0]!, rule)
    else if (/^[^*]+$/.test(extensionOf(last) ?? '')) put(byEnd, extensionOf(last)!, rule)
    else other.push(rule)
  }
  for (const map of [exact, byStart, byEnd]) for (const rules of map.values()) rules.sort(longestFirst)
  const find = (rules: readonly Compiled<T>[] | undefined, name: string, folded: readonly string[]) =>
    rules?.find(({ last, above }) => last(name) && above.every((glob, i) => glob(folded.at(-1 - i) ?? '')))
  return {
    match(name, folded) {
      const plain = foldName(name)
      const extension = extensionOf(plain)
      return (
        find(exact.get(plain), plain, folded) ??
        find(byStart.get(plain[0] ?? ''), plain, folded) ??
        (extension === undefined ? undefined : find(byEnd.get(extension), plain, folded)) ??
        find(other, plain, folded)
      )?.value
    },
  }
}

type Glob = (name: string) => boolean

/** The parts between the stars are found from left to right, each behind the one before: nothing is tried twice. */
function globOf(pattern: string): Glob {
  const [start = '', ...rest] = pattern.split('*')
  const end = rest.pop()
  if (end === undefined) return (name) => name === pattern
  return (name) => {
    if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false
    let at = start.length
    for (const part of rest) {
      const found = name.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at <= name.length - end.length
  }
}

const extensionOf = (name: string): string | undefined => {
  const dot = name.lastIndexOf('.')
  return dot === -1 ? undefined : name.slice(dot + 1)
}

/** Of two patterns for a name the one that says more of it holds. */
const longestFirst = <T>(a: Compiled<T>, b: Compiled<T>) => b.above.length - a.above.length || b.length - a.length

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
  const there = map.get(key)
  if (there) there.push(value)
  else map.set(key, [value])
}
