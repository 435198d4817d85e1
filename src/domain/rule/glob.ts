/**
 * Patterns with `*`. The time grows with the length of the text, never with how cruel text and pattern are to each other: those of paths are matched in one pass over
 * the text with the set of places in the pattern that are still possible. People write no regular expressions here.
 */
export interface Glob {
  matches(text: string): boolean
}

/** `names`: `*` stays within one name of a path, `**` goes beyond, and a `**` between slashes may stand for no folder at all. Otherwise a star stands for anything. */
export function compileGlob(pattern: string, { names = false } = {}): Glob {
  if (!names) {
    const parts = pattern.split(/\*+/)
    return { matches: (text) => partsFollow(parts, text) }
  }
  const tokens = tokensOf(pattern)
  return { matches: (text) => run(tokens, text) }
}

/** The first place where a part is found leaves most room for the next, so no other need be tried. */
function partsFollow(parts: readonly string[], text: string): boolean {
  const [first = '', ...others] = parts
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}

type Token =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any'; readonly crosses: boolean }
  /** Begins `folders`, or leaves them out. */
  | { readonly kind: 'maybe' }
  /** Anything that ends with a slash. */
  | { readonly kind: 'folders' }

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = []
  const chars = [...pattern]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!
    if (char !== '*') {
      tokens.push({ kind: 'char', char })
      continue
    }
    let stars = 1
    while (chars[i + 1] === '*') {
      stars++
      i++
    }
    const before = tokens.at(-1)
    const isAlone = (before === undefined || (before.kind === 'char' && before.char === '/')) && chars[i + 1] === '/'
    if (stars > 1 && isAlone) {
      tokens.push({ kind: 'maybe' }, { kind: 'folders' })
      i++
    } else tokens.push({ kind: 'any', crosses: stars > 1 })
  }
  return tokens
}

function run(tokens: readonly Token[], text: string): boolean {
  let places = closure(tokens, [0])
  for (const char of text) {
    const next: number[] = []
    for (const place of places) {
      const token = tokens[place]
      if (token === undefined) continue
      if (token.kind === 'char') {
        if (token.char === char) next.push(place + 1)
      } else if (token.kind === 'any') {
        if (token.crosses || char !== '/') next.push(place)
      } else if (token.kind === 'folders') {
        next.push(place)
        if (char === '/') next.push(place + 1)
      }
    }
    if (next.length === 0) return false
    places = closure(tokens, next)
  }
  return places.includes(tokens.length)
}

/** A star may stand for nothing, so the place behind it is possible too. Each place once. */
function closure(tokens: readonly Token[], places: readonly number[]): number[] {
  const seen = new Set<number>()
  const open = [...places]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (seen.has(place)) continue
    seen.add(place)
    const kind = tokens[place]?.kind
    if (kind === 'any') open.push(place + 1)
    if (kind === 'maybe') open.push(place + 1, place + 2)
  }
  return [...seen]
}
