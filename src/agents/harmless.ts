import { isShallow } from './json.ts'
import { cut, pieceChars } from './text.ts'

const maxDepth = 32

/** A tool's input is stored as it came, unless storing it would do harm: then as its JSON text. */
export function harmless(input: unknown): unknown {
  if (!isShallow(input, maxDepth)) return 'left out: nested too deeply'
  const text = JSON.stringify(input) ?? 'null'
  return text.length > pieceChars || /\\u(0000|d[89a-f])/i.test(text) ? cut(text, pieceChars) : input
}
