import type { Line } from '../process/lines.ts'
import { cut } from './text.ts'

export type Parsed = { readonly value: unknown } | { readonly fault: string }

/** What a program printed as JSON. Hostile text gives a fault, never a throw. */
export function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) }
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof RangeError)) throw thrown
    return { fault: cut(thrown.message, 200) }
  }
}

/** A line that should be a JSON object. One that does not begin like it is not even tried: a flood of garbage stays cheap. */
export function parseLine(line: Line): Parsed {
  if (line.truncatedBytes > 0) return { fault: `the line is ${line.truncatedBytes} bytes too long` }
  return objectBegins.test(line.text) ? parseJson(line.text) : { fault: 'the line is no JSON object' }
}

/** True if the value nests no deeper than `levels`; walked level by level, because recursion would overflow on a hostile one. */
export function isShallow(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return false
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return true
}

const byteOrderMark = '\uFEFF'
const objectBegins = /^\s*\{/
