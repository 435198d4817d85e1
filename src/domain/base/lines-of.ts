import { invalid } from '../error.ts'

/** A string of JavaScript holds no more than twice this. */
const longestLine = 256 * 1024 * 1024

/** Text that comes in pieces, line by line: one JSON value a line, in which JSON itself writes every other break as two signs. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest: string[] = []
  let length = 0
  for await (const piece of pieces) {
    const [first = '', ...more] = piece.split('\n')
    rest.push(first)
    length += first.length
    if (length > longestLine) throw invalid('A line is longer than 256 MiB; this is no export of Pawl.')
    if (more.length === 0) continue
    yield rest.join('')
    const last = more.pop()!
    yield* more
    rest = [last]
    length = last.length
  }
  if (length > 0) yield rest.join('')
}

/** All of what comes in pieces. */
export async function joined(pieces: AsyncIterable<string>, separator = ''): Promise<string> {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all.join(separator)
}
