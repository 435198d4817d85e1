import { invalid } from '../../domain/error.ts'

/** All of stdin as text; refuses what is longer than allowed without reading on. */
export async function readStdin(maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // One more character than allowed is enough to know; a closing newline is not counted.
    if (bytes > maxBytes + 2)
      throw invalid(
        `Standard input is longer than ${maxBytes} bytes; put the material into a file of the workspace and point at it.`,
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
