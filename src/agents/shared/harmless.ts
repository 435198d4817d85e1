import { isObjectOrArray } from '../../domain/base/object.ts'
import { isShallow } from './json.ts'
import { cut, pieceChars } from './text.ts'

const maxDepth = 32

/** A tool's input is stored as it came, unless storing it would do harm: then as its JSON text. */
export function harmless(input: unknown): unknown {
  if (isPlain(input)) return input
  if (!isShallow(input, maxDepth)) return 'left out: nested too deeply, or too many values'
  const text = JSON.stringify(input) ?? 'null'
  return text.length > pieceChars || /\\u(0000|d[89a-f])/i.test(text) ? cut(text, pieceChars) : input
}

/** The usual input, a few short strings, needs no further look. */
function isPlain(input: unknown): boolean {
  if (!isObjectOrArray(input)) return false
  const parts: unknown[] = Object.values(input)
  return (
    parts.length < 8 &&
    Object.keys(input).every(isShortAndClean) &&
    parts.every((part) => part === undefined || typeof part === 'boolean' || (typeof part === 'string' && isShortAndClean(part)))
  )
}

const isShortAndClean = (text: string) => text.length < 4_096 && text.isWellFormed() && !text.includes('\0')
