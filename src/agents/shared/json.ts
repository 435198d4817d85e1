import { isSmall, mostParts } from '../../domain/base/small.ts'
import type { Line } from '../../sandbox/process/lines.ts'
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

/** True if the value nests no deeper than `levels` and does not have so many values that to walk through it would hold up everybody else. */
export const isShallow = (value: unknown, levels: number): boolean => isSmall(value, { levels, parts: mostParts })

const byteOrderMark = '\uFEFF'
const objectBegins = /^\s*\{/
