import { invalid } from '../../domain/error.ts'

/** A regular expression as a tree. What cannot be matched in linear time has no node here. */
export type Node =
  | { readonly kind: 'char'; readonly accepts: Accepts }
  | { readonly kind: 'sequence' | 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number }
  | { readonly kind: 'assert'; readonly what: Assertion }

export type Accepts = (point: number) => boolean
export type Assertion = 'start' | 'end' | 'boundary' | 'inside'

const mostRepeats = 1_000
const deepest = 200
const classes: Record<string, Accepts> = {
  d: (p) => p >= 48 && p <= 57,
  w: (p) => isWord(p),
  s: (p) => p === 32 || (p >= 9 && p <= 13) || p === 0xa0 || p === 0xfeff || p === 0x2028 || p === 0x2029,
}
const named: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0, a: 7, e: 27 }

export const isWord = (p: number) => (p >= 48 && p <= 57) || (p >= 65 && p <= 90) || p === 95 || (p >= 97 && p <= 122)

/** Reads the usual notation. Lazy and greedy are the same to whoever only asks whether a line matches. */
export function parse(pattern: string): { readonly node: Node; readonly ignoreCase: boolean } {
  const flags = /^\(\?([im]*)\)/.exec(pattern)
  const chars = [...pattern.slice(flags?.[0].length ?? 0)]
  let at = 0
  const refuse = (why: string) =>
    invalid(
      `The pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be used: ${why}. Escape characters with "\\" to search for them as they are.`,
    )
  const node = either(0)
  if (at < chars.length) throw refuse('a ")" closes nothing')
  return { node, ignoreCase: flags?.[1]?.includes('i') ?? false }

  function either(depth: number): Node {
    if (depth > deepest) throw refuse('its groups are too deep')
    const parts = [sequence(depth)]
    while (chars[at] === '|') {
      at++
      parts.push(sequence(depth))
    }
    return parts.length === 1 ? parts[0]! : { kind: 'either', parts }
  }

  function sequence(depth: number): Node {
    const parts: Node[] = []
    while (at < chars.length && chars[at] !== '|' && chars[at] !== ')') parts.push(repeated(single(depth)))
    return { kind: 'sequence', parts }
  }

  function repeated(part: Node): Node {
    let node = part
    for (;;) {
      const char = chars[at]
      const range = char === '{' ? /^\{(\d{0,4})(,?)(\d{0,4})\}/.exec(chars.slice(at, at + 12).join('')) : null
      const isRange = range !== null && (range[1] !== '' || range[3] !== '')
      if (char !== '*' && char !== '+' && char !== '?' && !isRange) return node
      at += isRange ? range[0].length : 1
      const least = isRange ? Number(range[1] || 0) : char === '+' ? 1 : 0
      const most = isRange ? (range[2] === '' ? least : Number(range[3] || Infinity)) : char === '?' ? 1 : Infinity
      if (least > mostRepeats || (most !== Infinity && most > mostRepeats))
        throw refuse(`it repeats more than ${mostRepeats} times`)
      if (most < least) throw refuse('a range ends before it begins')
      if (chars[at] === '?' || chars[at] === '+') at++
      node = { kind: 'repeat', part: node, least, most }
    }
  }

  function single(depth: number): Node {
    const char = chars[at++]!
    if (char === '(') return group(depth)
    if (char === '[') return { kind: 'char', accepts: set() }
    if (char === '.') return { kind: 'char', accepts: (p) => p !== 10 }
    if (char === '^') return { kind: 'assert', what: 'start' }
    if (char === '$') return { kind: 'assert', what: 'end' }
    if (char === '*' || char === '+' || char === '?') throw refuse(`there is nothing that "${char}" could repeat`)
    if (char !== '\\') return one(char.codePointAt(0)!)
    if (chars[at] === 'b' || chars[at] === 'B') return { kind: 'assert', what: chars[at++] === 'b' ? 'boundary' : 'inside' }
    if (/[1-9k]/.test(chars[at] ?? '')) throw refuse('it refers back to what it matched before, which can take for ever')
    const accepts = escaped()
    return typeof accepts === 'number' ? one(accepts) : { kind: 'char', accepts }
  }

  function group(depth: number): Node {
    if (chars[at] === '?') {
      const opening = chars.slice(at, at + 40).join('')
      const plain = /^\?(:|P?<[A-Za-z_]\w*>)/.exec(opening)
      if (!plain) throw refuse('it looks ahead or behind, or has another group that is not known here')
      at += [...plain[0]].length
    }
    const node = either(depth + 1)
    if (chars[at++] !== ')') throw refuse('a "(" is not closed')
    return node
  }

  function set(): Accepts {
    const isNegated = chars[at] === '^'
    if (isNegated) at++
    const accepts: Accepts[] = []
    for (let isFirst = true; isFirst || chars[at] !== ']'; isFirst = false) {
      const from = member()
      const isRange = typeof from === 'number' && chars[at] === '-' && chars[at + 1] !== ']' && chars[at + 1] !== undefined
      if (!isRange) {
        accepts.push(typeof from === 'number' ? (p) => p === from : from)
        continue
      }
      at++
      const to = member()
      if (typeof to !== 'number' || to < from) throw refuse('a range in brackets ends before it begins')
      accepts.push((p) => p >= from && p <= to)
    }
    at++
    return (p) => accepts.some((fits) => fits(p)) !== isNegated
  }

  function member(): number | Accepts {
    const char = chars[at++]
    if (char === undefined) throw refuse('a "[" is not closed')
    if (char === '[' && chars[at] === ':') throw refuse('it has a class like [:alpha:]; write [A-Za-z]')
    if (char !== '\\') return char.codePointAt(0)!
    if (chars[at] === 'b') {
      at++
      return 8
    }
    return escaped()
  }

  function escaped(): number | Accepts {
    const char = chars[at++]
    if (char === undefined) throw refuse('it ends with a single "\\"')
    const fits = classes[char.toLowerCase()]
    if (fits) return char === char.toLowerCase() ? fits : (p) => !fits(p)
    const hex = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|[xu]\{([0-9a-f]{1,6})\})/i.exec(chars.slice(at - 1, at + 9).join(''))
    if (hex) {
      at += hex[0].length - 1
      return Number.parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16)
    }
    if (Object.hasOwn(named, char)) return named[char]!
    if (/[A-Za-z]/.test(char)) throw refuse(`"\\${char}" is not known here`)
    return char.codePointAt(0)!
  }
}

const one = (point: number): Node => ({ kind: 'char', accepts: (p) => p === point })
