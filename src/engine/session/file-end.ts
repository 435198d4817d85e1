import { createHash } from 'node:crypto'
import { read, readSync } from 'node:fs'
import { promisify } from 'node:util'

const readElsewhere = promisify(read)

/** So much of the end of what is stored must still be there for a file to count as the same one, grown. */
const comparedBytes = 64 * 1024

/** As much of the end of some bytes as is compared, and its digest. */
export const endOf = (bytes: Buffer) => bytes.subarray(-comparedBytes)
export const digestOf = (end: Buffer) => createHash('sha256').update(end).digest()

export const readEnd = (file: number, end: number) => readAt(file, Math.max(0, end - comparedBytes), Math.min(end, comparedBytes))

/** A little is read at once, which costs less than to ask another thread for it. */
export async function readAt(file: number, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const rest = [buffer, filled, length - filled, position + filled] as const
    const bytes = length <= comparedBytes ? readSync(file, ...rest) : (await readElsewhere(file, ...rest)).bytesRead
    if (bytes === 0) break
    filled += bytes
  }
  return buffer.subarray(0, filled)
}
