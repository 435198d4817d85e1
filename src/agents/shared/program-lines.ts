import { asObject, type Fields } from '../../domain/base/object.ts'
/** The lines of a stream. Split at `\n` alone; a character that is split between two chunks stays whole. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxChars = 64 * 1024 * 1024): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Parts, not one string: a line of many chunks would be searched from its beginning with each of them.
  let started: string[] = []
  let size = 0
  for await (const chunk of chunks) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n')
    const last = pieces.pop() ?? ''
    for (const piece of pieces) {
      yield started.join('') + piece
      started = []
      size = 0
    }
    started.push(last)
    size += last.length
    if (size > maxChars) throw new Error(`A line has more than ${maxChars} characters.`)
  }
  const rest = started.join('') + decoder.decode()
  if (rest !== '') yield rest
}

export function parsed(line: string): Fields | undefined {
  try {
    return asObject(JSON.parse(line))
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
export const asCount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0
