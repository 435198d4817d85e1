import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'
import { invalid, messageOf } from '../domain/error.ts'

/** A regular expression that takes time in proportion to the text, whatever a user, an agent or a model wrote. */
export interface Regex {
  test(text: string): boolean
  /** The match and its groups; undefined if there is none. */
  exec(text: string): readonly string[] | undefined
  readonly groups: number
}

/** The most instructions of a pattern that is matched beside everything else: each character of a text costs up to 40 ns for each of them. */
export const mostSteps = 1_000

/** To read what is longer, and never closed, can take the library seconds. */
const mostChars = 20_000

/** Compiles a pattern for RE2. Refuses, with a sentence, what takes more than linear time and what is too large to compile. */
export function compileRegex(pattern: string, { ignoreCase = false, most = mostSteps, singleLine = false } = {}): Regex {
  const re2 = load()
  if (pattern.length > mostChars || sizeOf(pattern) > most) throw tooLarge(pattern)
  refuseBackReferences(pattern)
  let compiled: RE2JS
  try {
    const flags = (ignoreCase ? re2.CASE_INSENSITIVE : 0) | (singleLine ? re2.DOTALL : 0)
    compiled = re2.compile(re2.translateRegExp(pattern), flags)
  } catch (error) {
    throw refused(pattern, reasonOf(messageOf(error)))
  }
  if (compiled.programSize() > most) throw tooLarge(pattern)
  return {
    test: (text) => compiled.test(text),
    exec: (text) => {
      const found = compiled.matcher(text)
      if (!found.find()) return undefined
      return Array.from({ length: compiled.groupCount() + 1 }, (_, group) => found.group(group) ?? '')
    },
    groups: compiled.groupCount(),
  }
}

/** Loaded when the first pattern is compiled: most processes of Pawl never compile one, and the library takes 10 ms or more to load. */
function load(): typeof RE2JS {
  library ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS
  return library
}
let library: typeof RE2JS | undefined

const refused = (pattern: string, why: string) =>
  invalid(
    `The pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be used: ${why}. Patterns are matched by RE2; put "\\" before a character to search for it as it is.`,
  )
const tooLarge = (pattern: string) =>
  refused(pattern, 'it is too large once its repetitions are written out; use smaller numbers in {…}')

function reasonOf(message: string): string {
  if (/[`(]\(\?(?:[=!]|<[=!])|\(\?<?[=!]/.test(message)) return 'it looks ahead or behind, which can take for ever'
  if (/escape sequence: `\\[1-9]/.test(message)) return backReference
  return message.replace(/^error parsing regexp: /, '')
}
const backReference = 'it refers back to what it matched before, which can take for ever'

/** The library would read `\k<name>` as plain letters. */
function refuseBackReferences(pattern: string): void {
  for (const [piece] of pattern.matchAll(pieces)) if (piece === '\\k') throw refused(pattern, backReference)
}

/** One escape, class, opening of a group, repetition or character. What is never closed is one piece to the end: looked for again at each sign it would take for ever. */
const pieces =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pPxu]\{[^}]*(?:\}|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*(?:\]|\\?$)|\(\?[A-Za-z-]*\)|\{(\d+)(?:,(\d*))?\}|[\s\S]/g

/** About how many instructions it becomes. Counted first, as to compile `(a?){1000}` a hundred times over takes seconds. */
function sizeOf(pattern: string): number {
  const open = [0]
  let last = 0
  const add = (size: number) => {
    last = size
    open[open.length - 1]! += size
  }
  for (const [piece, least, most] of pattern.matchAll(pieces)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most || 0), 1)
      open[open.length - 1]! += last * (times - 1)
      last *= times
    } else if (piece === '(') open.push(1)
    else if (piece === ')' && open.length > 1) add(open.pop()!)
    else add(piece.startsWith('\\Q') ? piece.length : 1)
  }
  return open.reduce((sum, size) => sum + size, 0)
}
