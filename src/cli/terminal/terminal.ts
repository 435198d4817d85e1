import { isolated, visible } from '../../domain/base/visible.ts'

/**
 * Writes text for a person. All output of the commands goes through here (test/architecture.test.ts), so nothing that an agent wrote can steer
 * the terminal or hide on it, wherever it was put into a sentence. Only our own colours pass.
 */
export function print(stream: NodeJS.WriteStream, text: string): void {
  stream.write(drawable(stream, text))
}

/** Writes a result as it is for another program, and visibly where a person sees it. */
export function printData(text: string): void {
  if (process.stdout.isTTY) print(process.stdout, text)
  else process.stdout.write(text)
}

/** Moves the cursor and the like; never with text from outside. */
export function steer(stream: NodeJS.WriteStream, sequences: string): void {
  stream.write(sequences)
}

/** A text as `print` writes it. Isolates are for terminals; a file or a pipe gets none. */
export function drawable(stream: NodeJS.WriteStream, text: string): string {
  return text
    .split(ownStyles)
    .map((part, at) => (at % 2 === 1 ? part : stream.isTTY ? isolated(visible(part)) : visible(part)))
    .join('')
}

// The codes of Cli.style and of pawl top. None of them conceals.
const ownStyles = /(\x1b\[(?:[0127]|2[27]|3[1239])m)/

const decoder = new TextDecoder()

/** For much output: waits while the reader is slow. False when the reader has left, which leaves nothing to be done. */
export async function writeOut(piece: string | Uint8Array): Promise<boolean> {
  const { stdout } = process
  if (!stdout.writable) return false
  const shown = stdout.isTTY
    ? drawable(stdout, typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }))
    : piece
  if (stdout.write(shown)) return true
  const { promise, resolve } = Promise.withResolvers<void>()
  // A pipe whose reader left never drains: it is closed.
  const go = () => {
    stdout.off('drain', go)
    stdout.off('close', go)
    resolve()
  }
  stdout.once('drain', go)
  stdout.once('close', go)
  await promise
  return stdout.writable
}
