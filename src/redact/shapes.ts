import { endOfPrivateKey, privateKeyBegins } from './private-key.ts'

/** Replaces secrets that nobody told us about, known by how they look. Agents send what they like, so it takes time in proportion to the text, whatever it is. */
export function redactShapes(text: string, mark: (name: string, length: number) => string): string {
  if (text.length < shortestShape || !(mayHoldKey.test(text) || mayHoldPhrase.test(text))) return text
  return shapes.reduce((sofar, shape) => redactShape(sofar, shape, (length) => mark(shape.name, length)), text)
}

interface Shape {
  readonly name: string
  /** What every secret of this kind begins with. Never longer than what it must look at to say no. */
  readonly prefix: RegExp
  /** The prefix says what follows and is no secret. */
  readonly isPrefixKept?: boolean
  readonly rest: Rest
}

/** Answers where the secret ends whose prefix ends at `start`. It is asked from left to right: so none of it looks twice at what lies ahead. */
type Rest = (text: string) => (start: number) => number | undefined

/** Not in the middle of a word. */
const beginning = (prefix: string) => new RegExp(`(?<![A-Za-z0-9])${prefix}`, 'g')

const notInHeader = /[^A-Za-z0-9._~+/=-]/g
const notInKey = /[^A-Za-z0-9_-]/g
const digit = /\d/g

const shapes: readonly Shape[] = [
  { name: 'private key', prefix: privateKeyBegins, rest: (text) => (start) => endOfPrivateKey(text, start) },
  {
    name: 'authorization',
    prefix: /\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token)\s+/gi,
    isPrefixKept: true,
    rest: signs({ until: notInHeader, atLeast: 8 }),
  },
  {
    name: 'authorization',
    prefix: /\bbearer\s+/gi,
    isPrefixKept: true,
    rest: signs({ until: notInHeader, atLeast: 20, with: digit }),
  },
  { name: 'api key', prefix: beginning('sk-'), rest: signs({ until: notInKey, atLeast: 20, with: digit }) },
  { name: 'github token', prefix: beginning('github_pat_'), rest: signs({ until: /\W/g, atLeast: 30 }) },
  { name: 'github token', prefix: beginning('gh[opsur]_'), rest: signs({ until: /[^A-Za-z0-9]/g, atLeast: 30 }) },
  { name: 'pawl token', prefix: beginning('pawl_'), rest: signs({ until: notInKey, atLeast: 43 }) },
  { name: 'aws key', prefix: beginning('A[KS]IA'), rest: awsKey },
  { name: 'jwt', prefix: beginning('eyJ'), rest: jwt },
]

/** An AWS key: four signs and sixteen. */
const shortestShape = 20

/**
 * They say no, and quickly, to nearly every text. Two, each with a long least length and no look behind: so the engine skips most of a text, which it does
 * not do for one of everything.
 */
const mayHoldKey = /(?:sk-|gh[opsur]_|github_pat_|pawl_|A[KS]IA)[\w-]{16}|eyJ[\w-]{8}/
const mayHoldPhrase = /bearer\s|authorization|PRIVATE KEY-----/i

function redactShape(text: string, { prefix, isPrefixKept, rest }: Shape, mark: (length: number) => string): string {
  const endOf = rest(text)
  let written = ''
  let at = 0
  prefix.lastIndex = 0
  for (let from = 0; prefix.test(text); from = prefix.lastIndex) {
    const prefixEnd = prefix.lastIndex
    const end = endOf(prefixEnd)
    if (end === undefined) continue
    const begin = isPrefixKept ? prefixEnd : beginOf(prefix, text, from)
    written += text.slice(at, begin) + mark(end - begin)
    at = end
    prefix.lastIndex = end
  }
  return at === 0 ? text : written + text.slice(at)
}

/** Asked for a secret alone: hostile texts are full of prefixes, and `exec` costs much more than `test`. */
function beginOf(prefix: RegExp, text: string, from: number): number {
  prefix.lastIndex = from
  return prefix.exec(text)!.index
}

interface Signs {
  /** The first sign that cannot be part of it. */
  readonly until: RegExp
  readonly atLeast: number
  /** A sign that words do not have. */
  readonly with?: RegExp
}

function signs({ until, atLeast, with: needed }: Signs): Rest {
  return (text) => {
    const nextOther = nextOf(until, text)
    const nextNeeded = needed && nextOf(needed, text)
    return (start) => {
      const end = nextOther(start)
      return end - start >= atLeast && (!nextNeeded || nextNeeded(start) < end) ? end : undefined
    }
  }
}

function awsKey(text: string) {
  const shape = /[A-Z0-9]{16}(?![A-Za-z0-9])/y
  return (start: number) => {
    shape.lastIndex = start
    return shape.test(text) ? start + 16 : undefined
  }
}

/** Three parts with dots between them. */
function jwt(text: string) {
  const [firstEnd, secondEnd, lastEnd] = [nextOf(notInKey, text), nextOf(notInKey, text), nextOf(notInKey, text)]
  return (start: number) => {
    const first = firstEnd(start)
    if (first - start < 8 || !text.startsWith('.eyJ', first)) return undefined
    const second = secondEnd(first + 4)
    return second - first - 4 >= 8 && text[second] === '.' ? lastEnd(second + 1) : undefined
  }
}

/**
 * Where such a sign stands next, or where the text ends. Remembered, because a text may consist of beginnings that all have the same end: looking for it
 * anew from each of them would take the square of the time.
 */
function nextOf(sign: RegExp, text: string): (start: number) => number {
  let from = 0
  let found = -1
  return (start) => {
    if (start < from || start > found) {
      sign.lastIndex = start
      from = start
      found = sign.test(text) ? sign.lastIndex - 1 : text.length
    }
    return found
  }
}
